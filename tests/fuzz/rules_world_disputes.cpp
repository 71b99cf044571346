// SPDX-License-Identifier: Apache-2.0
// What players of the random ledger do in games: challenge what is settled, post what may or may not fold,
// pick anything, prove nothing, concede, call, or stay silent.
#include <algorithm>

#include "contracts/dispute/witness.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "tests/fuzz/rules_world.hpp"

namespace assay::fuzz {

using namespace contracts;

/// Merges stand seldom here: about one that does a game is begun, often lost, and those who attested it
/// called.
bool RulesWorld::dispute_merge(const Job& job, const std::vector<Game>& games) {
    for (const Game& game : games) {
        if (game.kind != ClaimKind::kMerge || game.called) continue;
        Person* claimant = by_node(game.claimant);
        if (game.phase == GamePhase::kRunning && claimant != nullptr && chance(2)) {
            send(*claimant, DisputeConcede{job.id, game.number});
            return true;
        }
        // A dead one is there for the rest of its window.
        const bool dead = game.claimant_lost && read_claim(state_, game.claim_id(job.id));
        if (game.is_open() || (dead && chance(4))) {
            play(job, game);
            return true;
        }
    }
    for (const auto& [id, claim] : list_claims(state_, job.id)) {
        if (id.kind != ClaimKind::kMerge || claim.dead || !end_of_settled(id)) continue;
        Person& who = challenger_of(id);
        send(who, StakeDeposit{who.node.public_key(), *Amount::of(1'000'000'000)});
        auto unit = dispute::UnitKind::kMerge;
        std::uint32_t part = 0;
        if (job.spec.has_norm_bound() && chance(2)) {
            unit = dispute::UnitKind::kClip;
            part = static_cast<std::uint32_t>(choose_(job.spec.slots));
        }
        send(who, DisputeOpen{job.id, id.round, id.kind, id.number, unit, part});
        return true;
    }
    return false;
}

bool RulesWorld::dispute(const Job& job) {
    std::vector<Game> games = list_games(state_, job.id);
    if (chance(3) && dispute_merge(job, games)) return true;
    if (!games.empty() && !chance(4)) {
        // An ended game is good for a call.
        const auto open = std::find_if(games.begin(), games.end(), [](const Game& g) { return g.is_open(); });
        const auto won = std::find_if(games.begin(), games.end(), [&](const Game& g) {
            return g.killed_claim() && read_claim(state_, g.claim_id(job.id));
        });
        if (won != games.end() && chance(6)) {
            play(job, *won);
            return true;
        }
        play(job, open != games.end() && !chance(4) ? *open : games[choose_(games.size())]);
        return true;
    }
    std::vector<ClaimId> settled;
    for (const auto& [id, claim] : list_claims(state_, job.id))
        if (!claim.dead && end_of_settled(id)) settled.push_back(id);
    if (settled.empty()) return false;
    const ClaimId& id = settled[choose_(settled.size())];
    auto unit = id.kind == ClaimKind::kMerge ? dispute::UnitKind::kMerge : dispute::UnitKind::kSegment;
    if (chance(2)) unit = static_cast<dispute::UnitKind>(1 + choose_(5));
    const auto part = static_cast<std::uint32_t>(chance(4) ? choose_(4) : 0);
    Person& who = challenger_of(id);
    if (chance(2)) send(who, StakeDeposit{who.node.public_key(), *Amount::of(1 + choose_(1'000'000'000))});
    send(who, DisputeOpen{job.id, id.round, id.kind, id.number, unit, part});
    return true;
}

/// Somebody, or whoever accuses the claim and has not opened its game; now and then it lets the time for that
/// pass.
RulesWorld::Person& RulesWorld::challenger_of(const ClaimId& id) {
    const Claim claim = *read_claim(state_, id);
    if (claim.accuse_by != 0 && chance(6)) pass_to(claim.accuse_by);
    for (const Accusation& accusation : claim.accusations) {
        Person* accuser = by_node(accusation.verifier);
        if (accuser != nullptr && !accusation.used && !chance(3)) return *accuser;
    }
    return people_[1 + choose_(people_.size() - 1)];
}

bool RulesWorld::end_of_settled(const ClaimId& id) {
    const auto round = read_round_progress(state_, id.job, id.round);
    return round && round->phase == RoundPhase::kSettled;
}

/// The winner, or anybody: about the unit of the game that killed the claim, or another.
void RulesWorld::call(const Job& job, const Game& killer, Person& winner) {
    const ClaimId id = killer.claim_id(job.id);
    if (!killer.killed_claim() || job.verifiers.empty() || !read_claim(state_, id)) return;
    dispute::UnitKind unit = killer.unit;
    std::uint32_t part = killer.part;
    if (chance(3)) {
        unit = static_cast<dispute::UnitKind>(1 + choose_(5));
        part = static_cast<std::uint32_t>(choose_(4));
    }
    const auto vouchers = vouchers_of(state_, id, unit, part);
    const bool any = vouchers.empty() || chance(4);
    const PublicKey& verifier =
        any ? job.verifiers[choose_(job.verifiers.size())].node : vouchers[choose_(vouchers.size())];
    Person& who = chance(2) ? winner : people_[1 + choose_(people_.size() - 1)];
    if (chance(2)) send(who, StakeDeposit{who.node.public_key(), *Amount::of(1'000'000'000)});
    send(who, DisputeCall{job.id, killer.number, unit, part, verifier});
}

/// Of any length up to the limit, at it, and beyond it: of one byte, or of bytes that differ.
base::Bytes RulesWorld::some_witness() {
    constexpr std::size_t kLimit = dispute::kMaxWitnessBytes;
    std::size_t size = choose_(4'000);
    if (chance(2)) size = chance(2) ? kLimit - 2 + choose_(4) : choose_(kLimit);
    base::Bytes witness(size, 7);
    if (!witness.empty() && chance(2)) {
        const std::uint64_t step = 1 + choose_(64);
        for (std::size_t i = 0; i < witness.size(); i += step)
            witness[i] = static_cast<std::uint8_t>(i * 131 + step);
    }
    return witness;
}

void RulesWorld::play(const Job& job, const Game& listed) {
    const auto game = read_game(state_, job.id, listed.number);
    Person* claimant = by_node(game->claimant);
    Person* challenger = by_node(game->challenger);
    if (claimant == nullptr || challenger == nullptr) return;
    if (!game->is_open()) return call(job, *game, *challenger);
    if (chance(20)) return send(chance(2) ? *claimant : *challenger, DisputeConcede{job.id, game->number});
    if (chance(20) && game->due != 0) return pass_to(game->due);
    if (!game->way.claimant_moves()) {
        dispute::Pick pick{.index = choose_(game->way.posted.size() + 1), .end = std::nullopt};
        if (chance(6)) pick = {.index = 0, .end = static_cast<dispute::StepEnd>(1 + choose_(4))};
        return send(*challenger, DisputePick{job.id, game->number, pick});
    }
    if (game->way.stage == dispute::WayStage::kWitness) {
        return send(*claimant, DisputeProve{job.id, game->number, some_witness()});
    }
    std::vector<Hash256> hashes(chance(20) ? choose_(9) : dispute::wanted_hashes(game->way));
    for (Hash256& hash : hashes) hash = some_hash();
    if (game->way.stage == dispute::WayStage::kStates && !hashes.empty()) hashes.back() = game->way.end;
    send(*claimant, DisputePost{job.id, game->number, hashes});
}

}  // namespace assay::fuzz
