// SPDX-License-Identifier: Apache-2.0
#include "node/audit/defeated_claim.hpp"

#include <algorithm>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "node/audit/birth_certificate.hpp"

namespace assay::node {

using contracts::ClaimKind;
using contracts::Reason;
using dispute::UnitKind;

namespace {

bool is_merged(const CertifiedRound& round, std::uint32_t slot) {
    return std::binary_search(round.merged_slots.begin(), round.merged_slots.end(), slot);
}

/// Its line says that the merge that stands is its own.
bool stands_behind_merge(const CertifiedRound& round, const base::PublicKey& node) {
    return std::any_of(round.lines.begin(), round.lines.end(), [&](const contracts::SettlementLine& line) {
        return line.kind == contracts::LineKind::kMerge && line.node == node &&
               (line.reason == Reason::kPaidMerge || line.reason == Reason::kMergeAttested);
    });
}

}  // namespace

bool is_in_model(const CertifiedRound& round, ClaimKind kind, std::uint32_t number,
                 const base::PublicKey& node) {
    if (!round.merged) return false;
    if (kind == ClaimKind::kMerge) return stands_behind_merge(round, node);
    const CertifiedSlot* slot = round.slot(number);
    return is_merged(round, number) && slot != nullptr && slot->miner == node;
}

std::vector<DefeatedClaim> defeats_in(const CertifiedRound& round, std::span<const contracts::Game> games) {
    std::vector<DefeatedClaim> found;
    for (const contracts::Game& game : games) {
        // A verifier that was called stands for its word, and not for the claim.
        if (game.round != round.round || game.is_open() || !game.claimant_lost || game.called) continue;
        if (!is_in_model(round, game.kind, game.claim, game.claimant)) continue;
        found.push_back({.game = game.number,
                         .claim = game.kind,
                         .number = game.claim,
                         .claimant = game.claimant,
                         .unit = game.unit,
                         .part = game.part,
                         .reason = contracts::reason_of(game)});
    }
    return found;
}

bool is_possible(const DefeatedClaim& defeat, const CertifiedRound& round, const program::JobSpec& spec) {
    const bool is_lost = defeat.reason == Reason::kDisputeLost || defeat.reason == Reason::kDisputeSilent ||
                         defeat.reason == Reason::kDisputeConceded;
    if (!is_lost || !is_in_model(round, defeat.claim, defeat.number, defeat.claimant)) return false;
    const bool is_slot = defeat.claim == ClaimKind::kSlot;
    switch (defeat.unit) {
        case UnitKind::kSegment: return is_slot && defeat.part < program::RoundPlan(spec).segments();
        case UnitKind::kUpdate: return is_slot && defeat.part == 0;
        case UnitKind::kCarried: return is_slot && defeat.part == 0 && program::carries_state(spec);
        case UnitKind::kMerge: return !is_slot && defeat.part == 0;
        case UnitKind::kClip: break;
    }
    return !is_slot && spec.has_norm_bound() && is_merged(round, defeat.part);
}

std::string claim_name(const DefeatedClaim& defeat, std::uint32_t round) {
    const bool is_slot = defeat.claim == ClaimKind::kSlot;
    return "round " + std::to_string(round) + (is_slot ? " slot " + std::to_string(defeat.number) : " merge");
}

std::string unit_name(const DefeatedClaim& defeat) {
    switch (defeat.unit) {
        case UnitKind::kSegment: return "segment " + std::to_string(defeat.part);
        case UnitKind::kUpdate: return "update";
        case UnitKind::kCarried: return "what it hands on";
        case UnitKind::kMerge: return "merge";
        case UnitKind::kClip: break;
    }
    return "clip of slot " + std::to_string(defeat.part);
}

}  // namespace assay::node
