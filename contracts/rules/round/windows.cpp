// SPDX-License-Identifier: Apache-2.0
// What settled claims still hold, until their windows are over.
#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

void keep_open(Work& work, const ClaimId& id, const Claim& claim) {
    ASSAY_CHECK(claim.window > 0);
    open_claim(work.state, id, claim);
    const std::uint64_t end = later(work.block.height, claim.window);
    work.state.put(deadline_key({end, DueKind::kWindows, id.job}), {});
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
    for (const auto& [id, open] : list_claims(state, job)) {
        const auto end = end_of_window(state, id, open);
        if (!end || *end > deadline.height) continue;
        const Claim claim = close_claim(state, id);
        if (!claim.bond.is_zero()) unlock_stake(state, claim.node, claim.bond);
        pay_balance(state, claim.owner, claim.held, &Supply::escrow);
    }
    const JobProgress progress = required(read_job_progress(state, job));
    if (progress.phase != JobPhase::kClosing || !list_claims(state, job).empty()) return;
    Job whole = required(read_job(state, job));
    close_job(work, whole);
    write_job(state, whole);
}

}  // namespace assay::contracts
