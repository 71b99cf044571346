// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/round_blobs.hpp"

#include <algorithm>
#include <ostream>
#include <string>

#include "node/blob/fetch.hpp"
#include "node/roles/following_role.hpp"
#include "node/rpc/client.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

std::vector<Endpoint> holders_of_round(const contracts::StateView& state, const contracts::Job& job,
                                       std::uint32_t round) {
    std::vector<Endpoint> holders;
    const auto add = [&](const std::vector<Endpoint>& more) {
        for (const Endpoint& holder : more) {
            const bool known = std::find(holders.begin(), holders.end(), holder) != holders.end();
            if (!holder.empty() && !known) holders.push_back(holder);
        }
    };
    add(holders_of_base(state, job));
    for (const contracts::SlotRound& slot : contracts::list_slots(state, job.id, round))
        add(holders_of_stored(state, job, slot, {}));
    return holders;
}

namespace {

constexpr const char* kOtherWay =
    "try again while the job's buyer or a verifier runs, or copy the blob from the home of one";

base::Failed<base::Error> nobody_serves(const std::vector<HolderReport>& reports) {
    if (reports.empty()) return fail(ErrorKind::kNotFound, "the ledger names nobody who holds it", kOtherWay);
    std::size_t silent = 0, without = 0;
    for (const HolderReport& report : reports) {
        if (!report.failure) continue;
        if (report.failure->kind == ErrorKind::kUnreachable) ++silent;
        if (report.failure->kind == ErrorKind::kNotFound) ++without;
    }
    const std::size_t wrong = reports.size() - silent - without;
    std::string what = "of " + std::to_string(reports.size()) + " holders that the ledger names " +
                       std::to_string(silent) + " did not answer and " + std::to_string(without) +
                       " do not have it";
    if (wrong > 0) what += ", and " + std::to_string(wrong) + " gave something else";
    const bool all_silent = silent == reports.size();
    return fail(all_silent ? ErrorKind::kUnreachable : ErrorKind::kNotFound, what, kOtherWay);
}

}  // namespace

base::Outcome<void> RoundBlobs::bring(const BlobId& id) {
    if (not_served_.contains(id)) return fail(ErrorKind::kNotFound, "nobody served it just now", kOtherWay);
    context_.err << "fetching blob " << id.hex() << '\n';
    const ConnectHolder connect = [this](const Endpoint& holder) {
        return connect_blobs(context_.client_of(holder));
    };
    std::vector<HolderReport> reports;
    const FetchEnd fetched = fetch_blob(store_, id, holders_, connect, {}, &reports);
    if (fetched) return {};
    const FetchFault fault = fetched.error().fault;
    if (fault == FetchFault::kOwnStore || fault == FetchFault::kOwnMachine)
        return fail(ErrorKind::kFailure, fetched.error().what, fetched.error().fix);
    not_served_.insert(id);
    return nobody_serves(reports);
}

}  // namespace assay::node
