// SPDX-License-Identifier: Apache-2.0
// What settled claims still hold, until their windows are over.
#include <algorithm>
#include <set>

#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/round/archive.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

bool has_open_claim(const StateView& state, const Hash256& job, std::uint32_t round) {
    const auto claims = list_claims(state, job);
    return std::any_of(claims.begin(), claims.end(),
                       [&](const auto& claim) { return claim.first.round == round; });
}

}  // namespace

void archive_if_closed(State& state, const Hash256& job, std::uint32_t round) {
    if (!has_open_claim(state, job, round)) archive_round(state, job, round);
}

void keep_open(Work& work, const ClaimId& id, const Claim& claim) {
    ASSAY_CHECK(claim.window > 0);
    open_claim(work.state, id, claim);
    const std::uint64_t end = later(work.block.height, claim.window);
    work.state.put(deadline_key({end, DueKind::kWindows, id.job}), {});
    if (claim.accuse_by != 0) note_accusers_due(work.state, id, claim.accuse_by);
}

std::optional<std::uint64_t> end_of_window(const StateView& state, const ClaimId& id, const Claim& claim) {
    const auto round = read_round_progress(state, id.job, id.round);
    if (!round || round->phase != RoundPhase::kSettled) return std::nullopt;
    return later(round->settled_at, claim.window);
}

void close_windows(Work& work, const Deadline& deadline) {
    State& state = work.state;
    const Hash256& job = deadline.subject;
    state.erase(deadline_key(deadline));
    std::set<std::uint32_t> closed;
    for (const auto& [id, open] : list_claims(state, job)) {
        const auto end = end_of_window(state, id, open);
        if (!end || *end > deadline.height || open.challenges > 0 || open.accuse_by != 0) continue;
        const Claim claim = close_claim(state, id);
        closed.insert(id.round);
        if (!claim.bond.is_zero()) unlock_stake(state, claim.node, claim.bond);
        pay_balance(state, claim.owner, claim.held, &Supply::escrow);
    }
    for (const std::uint32_t round : closed) archive_if_closed(state, job, round);
    const JobProgress progress = required(read_job_progress(state, job));
    if (progress.phase != JobPhase::kClosing || !list_claims(state, job).empty()) return;
    Job whole = required(read_job(state, job));
    close_job(work, whole);
    write_job(state, whole);
}

}  // namespace assay::contracts
