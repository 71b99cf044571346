// SPDX-License-Identifier: Apache-2.0
#include "node/sim/quarrels.hpp"

#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/round/machine.hpp"

namespace assay::node::sim {

namespace {

using contracts::Claim;
using contracts::ClaimId;
using contracts::ClaimKind;
using contracts::Game;
using contracts::GamePhase;
using contracts::Payload;

constexpr int kTries = 8;

/// A number that follows from the game and its move.
std::uint64_t drawn(const base::Hash256& job, std::uint32_t game, std::uint32_t move, int attempt) {
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

/// Something of what was posted, but nothing that the ledger would compute at once: whoever is right opens
/// that, and a stand-in worker has nothing to open.
std::optional<Payload> random_pick(const contracts::StateView& state, const base::Hash256& job,
                                   const Game& game) {
    const auto terms = contracts::read_job_terms(state, job);
    const auto pieces = contracts::read_game_pieces(state, job, game.number);
    if (!terms || !pieces || game.way.posted.empty()) return std::nullopt;
    dispute::UnitFacts facts(terms->spec, pieces->unit);
    for (int attempt = 0; attempt < kTries; ++attempt) {
        const dispute::Pick pick{
            .index = drawn(job, game.number, game.moves, attempt) % game.way.posted.size(), .end = {}};
        if (!dispute::may_pick(game.way, facts, pick)) continue;
        dispute::Way behind = game.way;
        dispute::pick(behind, facts, pick);
        if (behind.stage == dispute::WayStage::kWitness) continue;
        return contracts::DisputePick{.job = job, .game = game.number, .pick = pick};
    }
    return std::nullopt;
}

std::optional<Payload> move_in(const contracts::StateView& state, const base::Hash256& job,
                               const base::PublicKey& me, const Conduct& conduct, const Game& listed) {
    if (listed.phase != GamePhase::kRunning) return std::nullopt;
    if (conduct.quarrel == Quarrel::kStalls) return std::nullopt;
    const contracts::DisputeConcede concede{.job = job, .game = listed.number};
    if (listed.claimant == me)
        return conduct.quarrel == Quarrel::kConcedes ? std::optional<Payload>(concede) : std::nullopt;
    const auto game = contracts::read_game(state, job, listed.number);
    if (listed.challenger != me || !game || game->way.claimant_moves()) return std::nullopt;
    if (conduct.quarrel == Quarrel::kThrows && !game->called) return concede;
    if (auto pick = random_pick(state, job, *game)) return pick;
    // Every other game is left to the clock.
    return game->number % 2 == 0 ? std::optional<Payload>(concede) : std::nullopt;
}

/// A verifier that said what the dead claim said, and was not called for it yet.
std::optional<Payload> call_in(const contracts::StateView& state, const base::Hash256& job,
                               const base::PublicKey& me, std::uint64_t height, const Game& won,
                               const std::vector<Game>& games) {
    if (won.is_open() || won.challenger != me || !won.claimant_lost || won.called) return std::nullopt;
    const auto claim = contracts::read_claim(state, won.claim_id(job));
    const auto end = claim ? contracts::end_of_window(state, won.claim_id(job), *claim) : std::nullopt;
    if (!end || height >= *end) return std::nullopt;
    for (const base::PublicKey& verifier : contracts::vouchers_of(state, job, won)) {
        const bool called = std::any_of(games.begin(), games.end(), [&](const Game& other) {
            return other.called && other.claimant == verifier && other.claim_id(job) == won.claim_id(job);
        });
        if (!called) return contracts::DisputeCall{.job = job, .game = won.number, .verifier = verifier};
    }
    return std::nullopt;
}

/// The next claim of a target that it has not challenged often enough.
std::optional<Payload> challenge(const contracts::StateView& state, const base::Hash256& id,
                                 const base::PublicKey& me, std::uint64_t height, const Conduct& conduct,
                                 const std::set<base::PublicKey>& targets, const std::vector<Game>& games) {
    const auto job = contracts::read_job(state, id);
    if (!job || conduct.challenges_each == 0) return std::nullopt;
    const contracts::Params params = contracts::params_of(state, *job);
    for (const auto& [name, claim] : contracts::list_claims(state, id)) {
        if (name.kind != ClaimKind::kSlot || claim.dead || !targets.contains(claim.node)) continue;
        const auto end = contracts::end_of_window(state, name, claim);
        if (!end || height >= *end || !contracts::read_reveal(state, id, name.round, name.number)) continue;
        const auto mine = std::count_if(games.begin(), games.end(), [&, claim = name](const Game& game) {
            return game.challenger == me && !game.called && game.claim_id(id) == claim;
        });
        if (mine >= conduct.challenges_each) continue;
        const auto bond = contracts::challenge_bond(params, *job, job->auction.clearing_price, claim);
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
                                    std::uint64_t height, const base::PublicKey& me, const Conduct& conduct,
                                    const std::set<base::PublicKey>& targets) {
    const std::vector<Game> games = contracts::list_games(state, job);
    for (const Game& game : games) {
        if (auto move = move_in(state, job, me, conduct, game)) return move;
    }
    for (const Game& game : games) {
        if (auto call = call_in(state, job, me, height, game, games)) return call;
    }
    return challenge(state, job, me, height, conduct, targets, games);
}

}  // namespace assay::node::sim
