// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/dispute/games.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "contracts/base/wide.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/dispute/losses.hpp"
#include "contracts/rules/dispute/queue.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

using dispute::UnitFacts;

Params params_in(const Work& work, const Hash256& job) {
    return params_of(work.state, required(read_job_terms(work.state, job)));
}

void write_game(State& state, const Hash256& job, Game game) {
    game.way.posted.clear();
    store_changed(state, game_key(job, game.number), game);
}

void write_posted(State& state, const Hash256& job, const Game& game) {
    GamePieces pieces = required(read_game_pieces(state, job, game.number));
    if (pieces.posted == game.way.posted) return;
    pieces.posted = game.way.posted;
    store(state, game_pieces_key(job, game.number), pieces);
}

void stop_clock(State& state, const Hash256& job, Game& game) {
    const std::uint64_t due = std::exchange(game.due, 0);
    if (due != 0) forget_game_due(state, job, game.number, due);
}

void begin_turn(Work& work, const Hash256& job, Game& game) {
    stop_clock(work.state, job, game);
    game.turn_since = work.block.height;
    const std::uint64_t clock = game.way.claimant_moves() ? game.claimant_clock : game.challenger_clock;
    game.due = later(later(game.turn_since, clock), 1);
    note_game_due(work.state, job, game.number, game.due);
}

void start(Work& work, const Hash256& job, Game& game) {
    game.phase = GamePhase::kRunning;
    note_played(work.state, job, game);
    begin_turn(work, job, game);
}

/// Starts games that wait, as many as there is room for.
void start_queued(Work& work, const PublicKey& claimant) {
    while (list_played_games(work.state, claimant).size() < kGamesAtOnce) {
        const auto next = next_queued(work.state, claimant);
        if (!next) return;
        Game game = required(read_game(work.state, next->job, next->number));
        dequeue_game(work.state, next->job, game);
        start(work, next->job, game);
        write_game(work.state, next->job, game);
    }
}

/// One challenge less. A claim whose window has passed meanwhile is closed by the next block; the time that
/// its accusers had is over with the last of their games.
void settle_challenge(Work& work, const ClaimId& id) {
    Claim claim = required(read_claim(work.state, id));
    ASSAY_CHECK(claim.challenges > 0);
    --claim.challenges;
    const std::uint64_t settled = required(read_round_progress(work.state, id.job, id.round)).settled_at;
    const std::uint64_t next = later(work.block.height, 1);
    if (claim.challenges == 0) {
        forget_window(work.state, id, claim);
        const bool accused = !claim.accusations.empty() && !claim.dead && claim.accuse_by == 0;
        if (accused) claim.window = params_in(work, id.job).claim_window;
        claim.window = std::max(claim.window, next - settled);
        note_window_end(work.state, id, later(settled, claim.window));
    }
    store(work.state, claim_key(id), claim);
}

void close_game(Work& work, const Hash256& job, Game& game, const GameResult& outcome) {
    stop_clock(work.state, job, game);
    if (game.phase == GamePhase::kRunning) {
        forget_played(work.state, job, game);
    } else {
        dequeue_game(work.state, job, game);
    }
    game.phase = GamePhase::kEnded;
    game.end = outcome.end;
    game.claimant_lost = outcome.claimant_lost;
    game.finding = outcome.finding;
    game.ended_at = work.block.height;
    work.state.erase(game_pieces_key(job, game.number));
    write_game(work.state, job, game);
    work.tell({.kind = EventKind::kDisputeEnded,
               .job = job,
               .round = game.round,
               .slot = game.claim,
               .node = game.claimant_lost ? game.claimant : game.challenger,
               .reason = reason_of(game),
               .amount = game.lost,
               .number = game.number});
}

/// Nobody lost it.
void return_game(Work& work, const Hash256& job, Game game, GameEnd end) {
    if (!game.bond.is_zero()) unlock_stake(work.state, game.challenger, game.bond);
    close_game(work, job, game, {end, false, {}});
    settle_challenge(work, game.claim_id(job));
}

/// Every other game on the claim ends with it, but for those of verifiers that were called: all of its
/// claimant.
void close_others(Work& work, const Hash256& job, const Game& decided) {
    for (const Game& game : list_games_about(work.state, decided.claim_id(job))) {
        if (game.is_open() && game.number != decided.number && !game.called)
            return_game(work, job, game, GameEnd::kClosed);
    }
}

/// The number of the next game: they are numbered from 0 without a gap, so that a few of them tell it.
std::uint32_t next_number(const StateView& state, const Hash256& job) {
    const auto is_taken = [&](std::uint64_t number) {
        return state.get(game_key(job, static_cast<std::uint32_t>(number))).has_value();
    };
    if (!is_taken(0)) return 0;
    std::uint64_t taken = 0;
    std::uint64_t step = 1;
    while (is_taken(taken + step)) {
        taken += step;
        step *= 2;
    }
    // taken + step is free.
    for (; step > 1; step /= 2)
        if (is_taken(taken + step / 2)) taken += step / 2;
    return static_cast<std::uint32_t>(taken + 1);
}

}  // namespace

std::optional<Amount> replay_cost(const JobTerms& terms, Amount price) {
    return replay_fee(price, terms.slot_work);
}

std::optional<Amount> challenge_bond(const Params& params, const JobTerms& terms, Amount price,
                                     const Claim& claim) {
    const auto cost = replay_cost(terms, price);
    if (!cost || claim.challenges >= 63) return std::nullopt;
    return std::max(*cost, params.verifier_penalty)
        .times(std::uint64_t{1} << claim.challenges, 1, base::Rounding::kUp);
}

bool is_winners_call(const Game& killer, const PublicKey& sender, const DisputeCall& call) {
    return killer.challenger == sender && killer.unit == call.unit && killer.part == call.part;
}

std::optional<std::size_t> unused_accusation(const Claim& claim, const PublicKey& verifier) {
    for (std::size_t i = 0; i < claim.accusations.size(); ++i) {
        const Accusation& accusation = claim.accusations[i];
        if (accusation.verifier == verifier && !accusation.used) return i;
    }
    return std::nullopt;
}

Game game_about(const StateView& state, const Job& job, const ClaimId& id, const Claim& claim) {
    Game game;
    game.round = id.round;
    game.kind = id.kind;
    game.claim = id.number;
    game.claimant = claim.node;
    game.claimant_owner = claim.owner;
    game.cost = required(replay_cost(job, price_of_round(state, job, id.round)));
    return game;
}

std::uint32_t open_game(Work& work, const Job& job, Game game, dispute::UnitClaim unit) {
    const Params params = params_of(work.state, job);
    game.number = next_number(work.state, job.id);
    game.opened_at = work.block.height;
    const Round round = required(read_round(work.state, job.id, game.round));
    const auto slots = list_slots(work.state, job.id, game.round);
    game.claimant_clock = game.challenger_clock =
        later(player_clock(params, job, round, slots), params.dispute_move_window);
    UnitFacts facts(job.spec, unit);
    game.way = dispute::begin_way(facts);
    store(work.state, game_pieces_key(job.id, game.number), GamePieces{unit, {}});
    const ClaimId id = game.claim_id(job.id);
    work.state.put(game_about_key(id, game.number), {});
    Claim claim = required(read_claim(work.state, id));
    ++claim.challenges;
    if (const auto own = game.accuses ? unused_accusation(claim, game.challenger) : std::nullopt) {
        claim.accusations[*own].used = true;
        await_accusers(work.state, id, claim);
    }
    store(work.state, claim_key(id), claim);
    if (list_played_games(work.state, game.claimant).size() < kGamesAtOnce) {
        start(work, job.id, game);
    } else {
        enqueue_game(work.state, job.id, game);
    }
    write_game(work.state, job.id, game);
    work.tell({.kind = EventKind::kDisputeOpened,
               .job = job.id,
               .round = game.round,
               .slot = game.claim,
               .node = game.challenger,
               .amount = game.bond,
               .number = game.number});
    return game.number;
}

void end_turn(Work& work, const Hash256& job, Game& game) {
    // Whoever moved was the other one than who is to move now.
    std::uint64_t& clock = game.way.claimant_moves() ? game.challenger_clock : game.claimant_clock;
    const std::uint64_t used = work.block.height - game.turn_since;
    clock = later(clock - std::min(clock, used), params_in(work, job).dispute_move_window);
    ++game.moves;
    begin_turn(work, job, game);
    write_posted(work.state, job, game);
    write_game(work.state, job, game);
    work.tell({.kind = EventKind::kDisputeMoved,
               .job = job,
               .round = game.round,
               .slot = game.claim,
               .node = game.way.claimant_moves() ? game.challenger : game.claimant,
               .number = game.number});
}

namespace {

/// Ends one game. True: its challenger lost an accusation, and what it locked for the job no longer covers
/// one.
bool end_one_game(Work& work, const Hash256& job, Game game, const GameResult& outcome) {
    bool used_up = false;
    game.end = outcome.end;
    game.claimant_lost = outcome.claimant_lost;
    if (outcome.end == GameEnd::kVoid) {
        const PublicKey claimant = game.claimant;
        game.finding = outcome.finding;
        if (!game.bond.is_zero()) unlock_stake(work.state, game.challenger, game.bond);
        if (game.accuses) return_accusers_fee(work, job, game);
        close_game(work, job, game, outcome);
        settle_challenge(work, game.claim_id(job));
        void_job(work, job);
        start_queued(work, claimant);
        return false;
    }
    if (game.claimant_lost) {
        if (!game.bond.is_zero()) unlock_stake(work.state, game.challenger, game.bond);
        lose_claim(work, job, game);
    } else {
        used_up = lose_challenge(work, job, game);
    }
    close_game(work, job, game, outcome);
    if (game.claimant_lost && !game.called) close_others(work, job, game);
    if (!game.claimant_lost && game.accuses) note_lost_accusation(work, job, game);
    settle_challenge(work, game.claim_id(job));
    start_queued(work, game.claimant);
    return used_up;
}

/// The unit of an accusation whose game was not opened.
void name_unit(const program::JobSpec& spec, const Accusation& accusation, Game& game) {
    game.unit = dispute::UnitKind::kMerge;
    if (game.kind == ClaimKind::kMerge) return;
    const bool finalises = program::RoundPlan(spec).is_finalise(accusation.unit);
    game.unit = finalises ? dispute::UnitKind::kUpdate : dispute::UnitKind::kSegment;
    game.part = finalises ? 0 : accusation.unit;
}

/// The accusations of the claim whose games these verifiers have not opened are lost.
void lose_unopened(Work& work, Job& job, const ClaimId& id, const std::set<PublicKey>& verifiers) {
    const auto listed = read_claim(work.state, id);
    if (!listed) return;
    std::optional<dispute::UnitClaim> unit;  // of a merge it is the same for all
    for (const Accusation& accusation : listed->accusations) {
        if (accusation.used || !verifiers.contains(accusation.verifier)) continue;
        Game game = game_about(work.state, job, id, *listed);
        name_unit(job.spec, accusation, game);
        game.challenger = accusation.verifier;
        game.challenger_owner = enlisted_verifier(job, accusation.verifier).owner;
        game.accuses = true;
        if (!unit || id.kind == ClaimKind::kSlot) unit = unjudged_unit(work.state, id, game.unit, game.part);
        const std::uint32_t number = open_game(work, job, std::move(game), required(unit));
        (void)end_one_game(work, id.job, required(read_game(work.state, id.job, number)),
                           {GameEnd::kSilent, false, {}});
    }
}

/// A verifier that does not open the game of its accusation has lost it, and with it all of the round that it
/// has not opened: whoever goes on with them opens one in each clock, in their order.
void time_out_accusers(Work& work, Job& job, const ClaimId& id) {
    std::set<PublicKey> silent;
    for (const Accusation& accusation : required(read_claim(work.state, id)).accusations)
        if (!accusation.used) silent.insert(accusation.verifier);
    if (silent.empty()) return;  // lost with an earlier one
    for (const auto& [other, claim] : list_claims(work.state, id.job, id.round))
        lose_unopened(work, job, other, silent);
}

}  // namespace

void end_game(Work& work, const Hash256& job, Game game, const GameResult& outcome) {
    const PublicKey challenger = game.challenger;
    if (!end_one_game(work, job, std::move(game), outcome)) return;
    // Whoever has nothing left to lose keeps nobody waiting.
    Job whole = required(read_job(work.state, job));
    for (const ClaimId& accused : list_accused(work.state, job))
        lose_unopened(work, whole, accused, {challenger});
}

// Nobody pays for this: it is part of a block's beginning. It looks at what is due and at nothing else of the
// job's games: at most the accusations of a round, which are no more than its slots times panel_most() and
// one, and its judges, and games whose opening was paid for.
void time_out_games(Work& work, const Deadline& deadline) {
    const DueInGames due = list_due_in_games(work.state, deadline.subject, deadline.height);
    Job job = required(read_job(work.state, deadline.subject));  // for terms, owners and speeds
    for (const ClaimId& accused : due.accused) time_out_accusers(work, job, accused);
    for (const std::uint32_t number : due.games) {
        Game game = required(read_game(work.state, deadline.subject, number));
        // An earlier one may have ended it.
        if (game.due != deadline.height) continue;
        end_game(work, deadline.subject, game, {GameEnd::kSilent, game.way.claimant_moves(), {}});
    }
}

}  // namespace assay::contracts
