// SPDX-License-Identifier: Apache-2.0
// How a verifier with the order to pause or drain takes on nothing new, and how one that drains knows that
// nothing needs it. The rules know no way out of a job: its stake is locked until the job has ended, and
// until then it owes links, audits, bitmaps and merges, and answers for what it said.
#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "node/roles/verifier.hpp"

namespace assay::node {

namespace {

bool has_open_merge(const contracts::StateView& state, const base::Hash256& job,
                    const base::PublicKey& verifier) {
    bool found = false;
    contracts::for_each_claim_of(state, job, verifier, contracts::ClaimKind::kMerge,
                                 [&](const contracts::ClaimId&) {
                                     found = true;
                                     return false;
                                 });
    return found;
}

/// Whether the job holds anything of the verifier: what it locked, its link bond, or a merge in its window.
/// One that lost all of it owes nothing more.
bool is_held_by(const contracts::StateView& state, const base::Hash256& job,
                const base::PublicKey& verifier) {
    const auto enlisted = contracts::read_enlisted(state, job, verifier);
    if (enlisted && !enlisted->bond.is_zero()) return true;
    const auto member = contracts::read_beacon_member(state, job, verifier);
    if (member && !member->bond.is_zero()) return true;
    return has_open_merge(state, job, verifier);
}

bool plays_in(const contracts::StateView& state, const base::Hash256& job, const base::PublicKey& verifier) {
    const auto games = contracts::list_games_about_open_claims(state, job);
    return std::any_of(games.begin(), games.end(), [&](const contracts::Game& game) {
        return game.is_open() && (game.challenger == verifier || game.claimant == verifier);
    });
}

}  // namespace

double VerifierRole::challenge_rate() const { return orders_.takes_on_work() ? options_.challenge : 0; }

std::string VerifierRole::still_needed_for() {
    if (is_sending()) return "a transaction that is under way";
    if (games_.computing()) return "a dispute";
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job_progress(state(), id);
        if (!job) continue;
        if (plays_in(state(), id, me())) return "a dispute in job " + id.brief();
        if (!is_held_by(state(), id, me())) continue;
        return (contracts::is_over(job->phase) ? "the windows of the claims in job " : "the end of job ") +
               id.brief();
    }
    return {};
}

void VerifierRole::end_if_drained() {
    if (orders_.order() != WorkOrder::kDrain) return;
    // Every active job is looked at: once in each block, and not for every event.
    if (waits_for_block_ == height()) return;
    const std::string cause = still_needed_for();
    const bool is_of_ledger = !cause.empty() && !is_sending() && !games_.computing();
    waits_for_block_ = is_of_ledger ? std::optional(height()) : std::nullopt;
    if (orders_.may_end(cause)) parts().finish(std::nullopt);
}

}  // namespace assay::node
