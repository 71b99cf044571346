// SPDX-License-Identifier: Apache-2.0
// Who vouched for a claim that died: whoever said the same has to defend it, or loses with it.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

using dispute::UnitKind;

std::vector<PublicKey> vouchers_of_slot(const StateView& state, const ClaimId& id, UnitKind kind,
                                        std::uint32_t part) {
    const auto terms = read_job_terms(state, id.job);
    const auto slot = read_slot(state, id.job, id.round, id.number);
    const auto reveal = read_reveal(state, id.job, id.round, id.number);
    if (!terms || !slot || !reveal) return {};
    const std::uint32_t unit = kind == UnitKind::kSegment ? part : program::RoundPlan(terms->spec).finalise();
    const auto claimed = [&](std::uint32_t of) { return program::unit_root(reveal->trace, terms->spec, of); };
    std::vector<PublicKey> found;
    for (const SlotAudit& audit : audits_of(state, id.job, id.round, *slot)) {
        const auto root = audit.roots.find(unit);
        if (!audit.opened || root == audit.roots.end() || root->second != claimed(unit)) continue;
        // Whoever computed the unit before went on from its own end, else from the start that was opened;
        // the first unit starts from the base, as the trace does since it was opened.
        const auto before = unit == 0 ? audit.roots.end() : audit.roots.find(unit - 1);
        if (before == audit.roots.end() || before->second == claimed(unit - 1))
            found.push_back(audit.verifier);
    }
    return found;
}

std::vector<PublicKey> vouchers_of_merge(const StateView& state, const ClaimId& id) {
    const auto postings = list_merge_postings(state, id.job, id.round);
    if (id.number >= postings.size()) return {};
    std::vector<PublicKey> found;
    for (const MergePosting& posting : postings) {
        const bool attests = posting.opened && posting.claim == postings[id.number].claim;
        if (attests && posting.place != id.number) found.push_back(posting.verifier);
    }
    return found;
}

}  // namespace

std::vector<PublicKey> vouchers_of(const StateView& state, const ClaimId& id, UnitKind unit,
                                   std::uint32_t part) {
    if (!has_unit(state, id, unit, part)) return {};
    return id.kind == ClaimKind::kSlot ? vouchers_of_slot(state, id, unit, part)
                                       : vouchers_of_merge(state, id);
}

std::uint64_t window_of_calls(const Params& params, std::uint64_t settled_at, std::uint64_t died_at) {
    return std::max(params.claim_window, later(died_at, params.dispute_move_window) - settled_at);
}

std::uint64_t end_of_calls(const StateView& state, const Hash256& job, const Game& killer) {
    const JobTerms terms = required(read_job_terms(state, job));
    const std::uint64_t settled = required(read_round_progress(state, job, killer.round)).settled_at;
    return later(settled, window_of_calls(params_of(state, terms), settled, killer.ended_at));
}

std::optional<Game> game_that_killed(const StateView& state, const ClaimId& id) {
    for (Game& game : list_games_about(state, id))
        if (game.killed_claim()) return std::move(game);
    return std::nullopt;
}

}  // namespace assay::contracts
