// SPDX-License-Identifier: Apache-2.0
#include "node/roles/quarrels.hpp"

#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/tables.hpp"
#include "node/roles/crafted_posts.hpp"

namespace assay::node {

namespace {

using contracts::Claim;
using contracts::ClaimId;
using contracts::ClaimKind;
using contracts::Game;
using contracts::GamePhase;
using contracts::Payload;

constexpr int kQuarrelTries = 8;

/// A number that follows from the game and its move.
std::uint64_t number_drawn(const base::Hash256& job, std::uint32_t game, std::uint32_t move, int attempt) {
    const base::Hash256 hash = base::Hasher("assay/sim/quarrel")
                                   .add(job)
                                   .add_u64(game)
                                   .add_u64(move)
                                   .add_u64(static_cast<std::uint64_t>(attempt))
                                   .finish();
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = (number << 8U) | hash.bytes[i];
    return number;
}

/// Something of what was posted, or of what a step ends with. Not to the end: nothing that the ledger would
/// compute at once.
std::optional<Payload> random_pick(const contracts::StateView& state, const base::Hash256& job,
                                   const Game& game, bool to_the_end) {
    const auto terms = contracts::read_job_terms(state, job);
    const auto pieces = contracts::read_game_pieces(state, job, game.number);
    if (!terms || !pieces || game.way.posted.empty()) return std::nullopt;
    dispute::UnitFacts facts(terms->spec, pieces->unit);
    const bool at_outputs = game.way.stage == dispute::WayStage::kOutputs;
    for (int attempt = 0; attempt < kQuarrelTries; ++attempt) {
        const std::uint64_t number = number_drawn(job, game.number, game.moves, attempt);
        dispute::Pick pick{.index = number % game.way.posted.size(), .end = {}};
        // One in four games goes by the end of a step.
        if (to_the_end && at_outputs && number_drawn(job, game.number, 0, 0) % 4 == 0) {
            pick = {.index = 0, .end = static_cast<dispute::StepEnd>(1 + number % std::uint64_t{3})};
        }
        if (!dispute::may_pick(game.way, facts, pick)) continue;
        dispute::Way behind = game.way;
        dispute::pick(behind, facts, pick);
        if (!to_the_end && behind.stage == dispute::WayStage::kWitness) continue;
        return contracts::DisputePick{.job = job, .game = game.number, .pick = pick};
    }
    return std::nullopt;
}

/// What a claimant makes up for this turn.
std::optional<Payload> crafted_move(const contracts::StateView& state, const base::Hash256& job,
                                    const Game& game) {
    const auto terms = contracts::read_job_terms(state, job);
    const auto pieces = contracts::read_game_pieces(state, job, game.number);
    if (!terms || !pieces || !game.way.claimant_moves()) return std::nullopt;
    if (game.way.stage == dispute::WayStage::kWitness) {
        return contracts::DisputeProve{
            .job = job, .game = game.number, .witness = crafted_witness(job, game.number)};
    }
    dispute::UnitFacts facts(terms->spec, pieces->unit);
    auto hashes = crafted_post(job, game.number, game.way, facts);
    if (!dispute::may_post(game.way, facts, hashes)) return std::nullopt;
    return contracts::DisputePost{.job = job, .game = game.number, .hashes = std::move(hashes)};
}

std::optional<Payload> move_in(const contracts::StateView& state, const base::Hash256& job,
                               const base::PublicKey& me, const QuarrelPlan& plan, const Game& listed) {
    if (listed.phase != GamePhase::kRunning) return std::nullopt;
    if (plan.quarrel == Quarrel::kStalls) return std::nullopt;
    const contracts::DisputeConcede concede{.job = job, .game = listed.number};
    if (listed.claimant == me && plan.quarrel == Quarrel::kConcedes) return concede;
    const auto game = contracts::read_game(state, job, listed.number);
    if (!game) return std::nullopt;
    if (listed.claimant == me)
        return plan.quarrel == Quarrel::kCrafts ? crafted_move(state, job, *game) : std::nullopt;
    if (listed.challenger != me || game->way.claimant_moves()) return std::nullopt;
    if (plan.quarrel == Quarrel::kThrows && !game->called) return concede;
    // Every other game is left to the clock, behind its first pick (those of odd slots) or before its last.
    const bool leaves = (plan.to_the_end ? game->claim : game->number) % 2 == 1;
    if (plan.to_the_end && leaves && !game->called && game->moves > 2) return std::nullopt;
    if (auto pick = random_pick(state, job, *game, plan.to_the_end)) return pick;
    return leaves ? std::nullopt : std::optional<Payload>(concede);
}

/// A verifier that said what the dead claim said, and was not called for it yet: none of its accomplices.
std::optional<Payload> call_in(const contracts::StateView& state, const base::Hash256& job,
                               const base::PublicKey& me, std::uint64_t height,
                               const std::set<base::PublicKey>& accomplices, const Game& won,
                               const std::vector<Game>& games) {
    if (won.is_open() || won.challenger != me || !won.killed_claim()) return std::nullopt;
    const ClaimId id = won.claim_id(job);
    if (!contracts::read_claim(state, id) || height + 1 >= contracts::end_of_calls(state, job, won))
        return std::nullopt;
    for (const base::PublicKey& verifier : contracts::vouchers_of(state, id, won.unit, won.part)) {
        const bool called = std::any_of(games.begin(), games.end(), [&](const Game& other) {
            return other.called && other.challenger == me && other.claimant == verifier &&
                   other.claim_id(job) == id;
        });
        if (!called && !accomplices.contains(verifier))
            return contracts::DisputeCall{job, won.number, won.unit, won.part, verifier};
    }
    return std::nullopt;
}

/// The next claim of a target that it has not challenged often enough.
std::optional<Payload> next_challenge(const contracts::StateView& state, const base::Hash256& id,
                                      const base::PublicKey& me, std::uint64_t height,
                                      const QuarrelPlan& plan, const std::set<base::PublicKey>& targets,
                                      const std::vector<Game>& games) {
    const auto job = contracts::read_job(state, id);
    if (!job || plan.challenges_each == 0) return std::nullopt;
    const contracts::Params params = contracts::params_of(state, *job);
    std::vector<ClaimId> claims;
    for (const base::PublicKey& target : targets) {
        contracts::for_each_claim_of(state, id, target, ClaimKind::kSlot, [&](const ClaimId& name) {
            claims.push_back(name);
            return true;
        });
    }
    std::sort(claims.begin(), claims.end(), [](const ClaimId& one, const ClaimId& other) {
        return std::pair(one.round, one.number) < std::pair(other.round, other.number);
    });
    for (const ClaimId& name : claims) {
        const auto found = contracts::read_claim(state, name);
        if (!found || found->dead) continue;
        const Claim& claim = *found;
        const auto end = contracts::end_of_window(state, name, claim);
        if (!end || height >= *end || !contracts::read_reveal(state, id, name.round, name.number)) continue;
        const auto mine = std::count_if(games.begin(), games.end(), [&](const Game& game) {
            return game.challenger == me && !game.called && game.claim_id(id) == name;
        });
        if (mine >= plan.challenges_each) continue;
        const auto bond = contracts::challenge_bond(
            params, *job, contracts::price_of_round(state, *job, name.round), claim);
        if (!bond || contracts::read_stake(state, me).free < *bond) continue;
        const std::uint32_t segments = program::RoundPlan(job->spec).segments();
        return contracts::DisputeOpen{.job = id,
                                      .round = name.round,
                                      .kind = name.kind,
                                      .number = name.number,
                                      .unit = dispute::UnitKind::kSegment,
                                      .part = static_cast<std::uint32_t>(mine) % segments};
    }
    return std::nullopt;
}

}  // namespace

std::optional<Payload> next_quarrel(const contracts::StateView& state, const base::Hash256& job,
                                    std::uint64_t height, const base::PublicKey& me, const QuarrelPlan& plan,
                                    const std::set<base::PublicKey>& targets) {
    const std::vector<Game> games = contracts::list_games_about_open_claims(state, job);
    for (const Game& game : games) {
        if (auto move = move_in(state, job, me, plan, game)) return move;
    }
    for (const Game& game : games) {
        if (auto call = call_in(state, job, me, height, targets, game, games)) return call;
    }
    return next_challenge(state, job, me, height, plan, targets, games);
}

}  // namespace assay::node
