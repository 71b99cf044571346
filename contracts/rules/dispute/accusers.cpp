// SPDX-License-Identifier: Apache-2.0
// What becomes of those who accuse a claim when a game about it ends.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/dispute/losses.hpp"
#include "contracts/rules/round/credit.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// What drawn verifiers sealed for the units of a slot.
class SealedRoots {
    std::vector<SlotAudit> audits_;

public:
    explicit SealedRoots(std::vector<SlotAudit> audits) : audits_(std::move(audits)) {}
    /// Nothing: it sealed none for this unit.
    [[nodiscard]] std::optional<Hash256> by(const PublicKey& verifier, std::uint32_t unit) const {
        for (const SlotAudit& audit : audits_) {
            const auto root = audit.roots.find(unit);
            if (audit.verifier == verifier && root != audit.roots.end()) return root->second;
        }
        return std::nullopt;
    }
};

/// What the game showed, and who did.
struct Shown {
    std::uint32_t unit = 0;
    Hash256 claimed;
    bool false_claim = false;  ///< the ledger computed that it is: a game that was thrown proves nothing
    std::optional<PublicKey> winner;  ///< if it accused the claim as well
};

bool is_right(const SealedRoots& sealed, const Shown& shown, const Accusation& accusation) {
    if (accusation.verifier == shown.winner) return true;
    const auto own = sealed.by(accusation.verifier, shown.unit);
    if (shown.false_claim && own == shown.claimed) return false;
    if (!shown.winner) return true;
    const auto winners = sealed.by(*shown.winner, shown.unit);
    if (own && winners) return own == winners;
    if (own) return true;
    return sealed.by(*shown.winner, accusation.unit) == accusation.found;
}

}  // namespace

std::vector<bool> right_accusers(const StateView& state, const Hash256& job, const Game& game,
                                 const Claim& claim) {
    if (game.kind == ClaimKind::kMerge) return std::vector<bool>(claim.accusations.size(), false);
    if (claim.accusations.empty()) return {};
    const JobTerms terms = required(read_job_terms(state, job));
    const auto slot = required(read_slot(state, job, game.round, game.claim));
    const auto reveal = required(read_reveal(state, job, game.round, game.claim));
    const SealedRoots sealed(audits_of(state, job, game.round, slot));
    Shown shown;
    shown.unit =
        game.unit == dispute::UnitKind::kSegment ? game.part : program::RoundPlan(terms.spec).finalise();
    shown.claimed = program::unit_root(reveal.trace, terms.spec, shown.unit);
    shown.false_claim = game.end == GameEnd::kJudged;
    std::vector<bool> right;
    for (const Accusation& accusation : claim.accusations)
        if (accusation.verifier == game.challenger) shown.winner = game.challenger;
    for (const Accusation& accusation : claim.accusations)
        right.push_back(is_right(sealed, shown, accusation));
    return right;
}

void note_lost_accusation(Work& work, const Hash256& id, const Game& game) {
    const ClaimId name = game.claim_id(id);
    Claim claim = required(read_claim(work.state, name));
    bool all = !claim.accusations.empty();
    for (Accusation& accusation : claim.accusations) {
        accusation.lost = accusation.lost || accusation.verifier == game.challenger;
        all = all && accusation.lost;
    }
    store(work.state, claim_key(name), claim);
    if (all && game.kind == ClaimKind::kSlot) clear_slot(work, name, claim);
}

}  // namespace assay::contracts
