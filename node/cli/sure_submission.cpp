// SPDX-License-Identifier: Apache-2.0
#include "node/cli/sure_submission.hpp"

#include <algorithm>
#include <optional>
#include <thread>

#include "ledger/store/genesis.hpp"
#include "node/processes/connect.hpp"
#include "node/roles/refusal.hpp"

namespace assay::node {

namespace {
constexpr std::chrono::milliseconds kPause{300};  ///< before it is sent again
constexpr std::chrono::milliseconds kLeast{100};  ///< for an answer, where the patience is nearly over
static_assert(kSubmissionPatience >= std::chrono::milliseconds(ledger::kMaxBlockIntervalMs) + kNodePatience);

/// After a submission without an answer, a refusal that passes says nothing of the first copy: that copy may
/// be what waits for a block.
bool says_nothing(const SubmitReply& reply) {
    return !reply.accepted && retry(refusal_in(reply)) == contracts::Retry::kSoon;
}

base::Failed<base::Error> not_known(const SignedAct& act, const base::Error& cause) {
    return base::fail(
        base::ErrorKind::kUnreachable,
        "it is not known what became of " + act.what + " (" + cause.what + "): it may still be executed",
        act.fix);
}
}  // namespace

base::Outcome<SubmitReply> submit_until_known(ClientOptions client, const SignedAct& act,
                                              std::chrono::milliseconds patience) {
    using SteadyClock = std::chrono::steady_clock;
    const auto until = SteadyClock::now() + patience;
    std::optional<base::Error> silence;  ///< why the first submission had no answer
    while (true) {
        // A submission answers only when its block is on disk, so it may take all the time there is.
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
        client.deadline = std::max(left, kLeast);
        ASSAY_ASSIGN(const auto ledger, connect_ledger(client));
        auto reply = ledger->submit(act.transaction);
        if (!reply.ok()) {
            const bool silent = reply.error().kind == base::ErrorKind::kUnreachable;
            if (!silent && !silence) return reply;
            if (!silence) silence = reply.error();
            if (!silent) return not_known(act, *silence);
        } else if (!silence || !says_nothing(*reply)) {
            return reply;
        }
        if (SteadyClock::now() + kPause >= until) return not_known(act, *silence);
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace assay::node
