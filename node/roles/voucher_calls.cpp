// SPDX-License-Identifier: Apache-2.0
#include "node/roles/voucher_calls.hpp"

#include <algorithm>

#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/tables.hpp"
#include "node/roles/game_player.hpp"

namespace assay::node {

using contracts::ClaimId;
using contracts::DisputeCall;
using contracts::Game;

namespace {

/// What a further call about the claim takes; nothing: it is no amount.
std::optional<base::Amount> bond_of(const contracts::StateView& state, const ClaimId& id,
                                    const contracts::Claim& claim) {
    const auto job = contracts::read_job(state, id.job);
    if (!job) return std::nullopt;
    return contracts::challenge_bond(contracts::params_of(state, *job), *job,
                                     contracts::price_of_round(state, *job, id.round), claim);
}

}  // namespace

DueCalls calls_due(const contracts::StateView& state, const base::Hash256& job, const Game& killer,
                   const DisputedUnit& unit, const base::PublicKey& me, std::uint64_t height) {
    DueCalls due;
    const ClaimId id = killer.claim_id(job);
    const auto claim = contracts::read_claim(state, id);
    if (!claim || height + 1 >= contracts::end_of_calls(state, job, killer)) return due;
    const auto owner = [&](const base::PublicKey& node) {
        const auto key = contracts::read_node_key(state, node);
        return key ? std::optional(key->owner) : std::nullopt;
    };
    const auto games = contracts::list_games_about(state, id);
    for (const base::PublicKey& verifier : contracts::vouchers_of(state, id, unit.unit, unit.part)) {
        const bool called = std::any_of(games.begin(), games.end(), [&](const Game& other) {
            if (!other.called || other.claimant != verifier) return false;
            // A call of somebody else can be meant to be lost.
            const bool own = other.challenger == me && other.unit == unit.unit && other.part == unit.part;
            return own || other.claimant_lost;
        });
        if (called || owner(verifier) == owner(me)) continue;
        const DisputeCall call{job, killer.number, unit.unit, unit.part, verifier};
        if (contracts::is_winners_call(killer, me, call)) {
            due.calls.push_back(call);
            continue;
        }
        const auto bond = bond_of(state, id, *claim);
        if (bond && contracts::read_stake(state, me).free >= *bond) {
            due.calls.push_back(call);
        } else {
            due.lacking = bond;
        }
        break;
    }
    return due;
}

std::string name_of(const DisputeCall& call) {
    return dispute_name(call.job, call.game) + ": I call verifier " + call.verifier.brief() +
           ", who vouched for " + std::string(dispute::to_text(call.unit)) + " " + std::to_string(call.part);
}

}  // namespace assay::node
