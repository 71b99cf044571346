// SPDX-License-Identifier: Apache-2.0
// What settled claims still hold, until their windows are over.
#include <set>

#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/round/archive.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

void archive_if_closed(State& state, const Hash256& job, std::uint32_t round) {
    if (!has_open_claim(state, job, round)) archive_round(state, job, round);
}

void keep_open(Work& work, const ClaimId& id, const Claim& claim) {
    ASSAY_CHECK(claim.window > 0);
    open_claim(work.state, id, claim);
    note_window_end(work.state, id, later(work.block.height, claim.window));
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
    std::set<std::uint32_t> closed;
    for (const ClaimId& id : list_window_ends(state, job, deadline.height)) {
        // With the last of them the deadline goes.
        forget_window_end(state, id, deadline.height);
        const Claim open = required(read_claim(state, id));
        // The end of its last game gives it another end.
        if (open.challenges > 0 || open.accuse_by != 0) continue;
        const Claim claim = close_claim(state, id);
        closed.insert(id.round);
        if (!claim.bond.is_zero()) unlock_stake(state, claim.node, claim.bond);
        pay_balance(state, claim.owner, claim.held, &Supply::escrow);
    }
    for (const std::uint32_t round : closed) archive_if_closed(state, job, round);
    const JobProgress progress = required(read_job_progress(state, job));
    if (progress.phase != JobPhase::kClosing || has_open_claim(state, job)) return;
    Job whole = required(read_job(state, job));
    close_job(work, whole);
    write_job(state, whole);
}

}  // namespace assay::contracts
