// SPDX-License-Identifier: Apache-2.0
// Gives the rules the games over claims as a machine of their own: opening, turns and clocks, the end and its
// money, the queue of a claimant (protocol.md §5). Internal to the rules.
#pragma once

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/dispute/transactions.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/clocks.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// What replaying a slot-round costs at the round's price. Nothing: it is no amount.
std::optional<Amount> replay_cost(const JobTerms& terms, Amount price);
/// A challenge's bond: the cost of the replay, and at least Params::verifier_penalty, doubled for each
/// challenge that is open on the claim. Nothing: it is no amount.
std::optional<Amount> challenge_bond(const Params& params, const JobTerms& terms, Amount price,
                                     const Claim& claim);
/// Whether a call takes no bond: its sender won the game in which the claim died, and calls about its unit.
bool is_winners_call(const Game& killer, const PublicKey& sender, const DisputeCall& call);
/// The place of the verifier's accusation that it has not used yet, among the claim's; nothing: none.
std::optional<std::size_t> unused_accusation(const Claim& claim, const PublicKey& verifier);

/// A game about the claim, between its claimant and nobody yet.
Game game_about(const StateView& state, const Job& job, const ClaimId& id, const Claim& claim);
/// Opens a game and starts it, or queues it, and returns its number. `game` has its players, unit and bond,
/// which is locked. An accusation of the challenger is used by it, where it `accuses`.
std::uint32_t open_game(Work& work, const Job& job, Game game, dispute::UnitClaim unit);
/// Counts a move: the other player's turn begins.
void end_turn(Work& work, const Hash256& job, Game& game);
/// Ends the game by what was found, and with it what depends on it. Writes game, claim and job.
struct GameResult {
    GameEnd end = GameEnd::kNone;
    bool claimant_lost = false;
    GameFinding finding;
};
void end_game(Work& work, const Hash256& job, Game game, const GameResult& outcome);

/// Whoever was to move in a game that is due is silent, and loses; an accusation that is due is a game that
/// its verifier lost by silence.
void time_out_games(Work& work, const Deadline& deadline);

// vouchers.cpp
/// Who vouched for this unit of the claim; nobody, where it has no such unit. Of a slot the verifiers that
/// computed the unit's root from the state that the miner claims, in the order of the draw: who computed the
/// unit before must agree with that as well. Of a merge the others who opened the same claim, in the order of
/// the round's judges: each merged by itself, or says so. REQUIRES an open claim of a settled round.
std::vector<PublicKey> vouchers_of(const StateView& state, const ClaimId& id, dispute::UnitKind unit,
                                   std::uint32_t part);

/// The heights from its settlement on in which a claim that died at `died_at` is open for calls: its window,
/// so that nobody closes it early by a loss on purpose, and one move from its death on at least.
std::uint64_t window_of_calls(const Params& params, std::uint64_t settled_at, std::uint64_t died_at);
/// The first height at which those who vouched for the claim that died in this game cannot be called any
/// more. REQUIRES Game::killed_claim().
std::uint64_t end_of_calls(const StateView& state, const Hash256& job, const Game& killer);
/// The game in which a dead claim died; nothing: it lives, or is closed.
std::optional<Game> game_that_killed(const StateView& state, const ClaimId& id);

}  // namespace assay::contracts
