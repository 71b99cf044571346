// SPDX-License-Identifier: Apache-2.0
// The state machine of games over claims, for the rules: opening, turns and clocks, the end and its money,
// the queue of a claimant (docs/concepts/dispute.md). Internal to the rules.
#pragma once

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/dispute/transactions.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/clocks.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The cost of replaying a slot-round at the round's price; nothing when it is above the largest amount.
std::optional<Amount> replay_cost(const JobTerms& terms, Amount price);
/// The bond of a challenge: the cost of the replay, at least Params::verifier_penalty, doubled for each
/// challenge that is open on the claim. Nothing when it is above the largest amount.
std::optional<Amount> challenge_bond(const Params& params, const JobTerms& terms, Amount price,
                                     const Claim& claim);
/// Whether a call needs no bond: its sender won the game in which the claim died, and the call is about that
/// game's unit.
bool is_winners_call(const Game& killer, const PublicKey& sender, const DisputeCall& call);
/// The place, among the claim's accusations, of the one that the verifier has not used yet; nothing when
/// there is none.
std::optional<std::size_t> unused_accusation(const Claim& claim, const PublicKey& verifier);

/// A game about the claim with its claimant, and without a challenger yet.
Game game_about(const StateView& state, const Job& job, const ClaimId& id, const Claim& claim);
/// Opens a game, starts or queues it, and returns its number. `game` has its players, its unit and its bond,
/// which the caller has locked. When the game `accuses`, it uses the challenger's accusation.
std::uint32_t open_game(Work& work, const Job& job, Game game, dispute::UnitClaim unit);
/// Counts a move and begins the other player's turn.
void end_turn(Work& work, const Hash256& job, Game& game);
/// Ends the game with its outcome, and carries out everything that depends on it. Writes game, claim and job.
struct GameResult {
    GameEnd end = GameEnd::kNone;
    bool claimant_lost = false;
    GameFinding finding;
};
void end_game(Work& work, const Hash256& job, Game game, const GameResult& outcome);

/// In a game that is due, the player whose turn it was is silent and loses. An accusation that is due counts
/// as a game that its verifier lost by silence.
void time_out_games(Work& work, const Deadline& deadline);

// vouchers.cpp
/// The verifiers that vouched for this unit of the claim; none when the claim has no such unit. For a slot:
/// the verifiers that computed the unit's claimed root from the state that the miner claims, in the order of
/// the draw. A verifier that computed the unit before must agree with the claim there as well. For a merge:
/// the other judges that opened the same claim, in the order of the round's judges; each merged by itself, or
/// claims so. REQUIRES an open claim of a settled round.
std::vector<PublicKey> vouchers_of(const StateView& state, const ClaimId& id, dispute::UnitKind unit,
                                   std::uint32_t part);

/// How many heights after its settlement a claim that died at `died_at` is open for calls. It is the claim's
/// window, so that nobody closes it early by losing on purpose, and at least one move after its death.
std::uint64_t window_of_calls(const Params& params, std::uint64_t settled_at, std::uint64_t died_at);
/// The first height at which the vouchers of the claim that died in this game can no longer be called.
/// REQUIRES Game::killed_claim().
std::uint64_t end_of_calls(const StateView& state, const Hash256& job, const Game& killer);
/// The game in which the claim died; nothing when the claim is alive or closed.
std::optional<Game> game_that_killed(const StateView& state, const ClaimId& id);

}  // namespace assay::contracts
