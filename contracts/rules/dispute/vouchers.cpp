// SPDX-License-Identifier: Apache-2.0
// Who vouched for a claim that lost a game: whoever said the same has to defend it, or loses with it.
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

namespace {

std::vector<PublicKey> vouchers_of_slot(const StateView& state, const Hash256& job, const Game& game) {
    const auto terms = read_job_terms(state, job);
    const auto slot = read_slot(state, job, game.round, game.claim);
    const auto reveal = read_reveal(state, job, game.round, game.claim);
    if (!terms || !slot || !reveal) return {};
    const program::RoundPlan plan(terms->spec);
    const bool of_segment = game.unit == dispute::UnitKind::kSegment;
    const std::uint32_t unit = of_segment ? game.part : plan.finalise();
    const auto claimed = [&](std::uint32_t of) { return program::unit_root(reveal->trace, terms->spec, of); };
    std::vector<PublicKey> found;
    for (const SlotAudit& audit : audits_of(state, job, game.round, *slot)) {
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

std::vector<PublicKey> vouchers_of_merge(const StateView& state, const Hash256& job, const Game& game) {
    const auto postings = list_merge_postings(state, job, game.round);
    if (game.claim >= postings.size()) return {};
    std::vector<PublicKey> found;
    for (const MergePosting& posting : postings) {
        const bool attests = posting.opened && posting.claim == postings[game.claim].claim;
        const bool plays = posting.place == game.claim || posting.verifier == game.challenger;
        if (attests && !plays) found.push_back(posting.verifier);
    }
    return found;
}

}  // namespace

bool may_call(const Game& game) {
    return !game.is_open() && !game.called && (game.claimant_lost || game.end == GameEnd::kClosed);
}

std::vector<PublicKey> vouchers_of(const StateView& state, const Hash256& job, const Game& game) {
    if (game.called) return {};
    return game.kind == ClaimKind::kSlot ? vouchers_of_slot(state, job, game)
                                         : vouchers_of_merge(state, job, game);
}

}  // namespace assay::contracts
