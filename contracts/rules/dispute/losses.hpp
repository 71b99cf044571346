// SPDX-License-Identifier: Apache-2.0
// The money and the consequences of the end of a game (docs/concepts/money.md). Each function changes the
// state and writes what was lost into the game. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/dispute/records.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The claim dies. Its bond is split: the challenger gets its cost, the buyer the rest of forfeit_buyer_ppm,
/// and the remainder is burned. Its held pay returns to the escrow, and those who rightly accused it are paid
/// for their audits. The miner becomes a newcomer again and, unless it conceded, is dropped from the job. A
/// verifier that was called, or that claimed the merge, loses its bond for the job.
void lose_claim(Work& work, const Hash256& job, Game& game);

/// The challenger loses its bond: the claim's owner gets what the replay costs it, the rest is burned. A
/// verifier that accused the claim loses accusation_stake() of what it locked for the job: the buyer gets the
/// pay of a slot whose update was kept out, the claim's owner what the replay costs, and the rest is burned.
/// True: this took from what the verifier locked, and left less than its dearest penalty.
[[nodiscard]] bool lose_challenge(Work& work, const Hash256& job, Game& game);

/// Makes the claim wait for its unused accusations, and writes the index of deadlines. The caller stores the
/// claim.
void await_accusers(State& state, const ClaimId& id, Claim& claim);

// accusers.cpp
/// For each accuser of the claim, in their order: whether its audit is paid now that the claim has lost the
/// game.
///
/// What counts is the root that the verifier had sealed for the game's unit, whatever unit it accused. If it
/// sealed the claimed root and the ledger computed that this root is false, it was wrong. A game that was
/// conceded or lost by time proves nothing. If the winner also accused the claim, its roots are the measure:
/// its root of the game's unit if it had sealed one, else its root of the unit that the other verifier
/// accused. For an accusation of a merge nothing was set aside, so no such audit is paid.
std::vector<bool> right_accusers(const StateView& state, const Hash256& job, const Game& game,
                                 const Claim& claim);
/// Notes that the challenger of the game lost its accusation. Once all accusers of the claim have lost, its
/// slot counts as work found right. REQUIRES that the claim is not dead.
void note_lost_accusation(Work& work, const Hash256& job, const Game& game);

/// Removes the end of the claim's window from the index of deadlines, unless another claim's window of the
/// job ends then.
void forget_window(State& state, const ClaimId& id, const Claim& claim);

/// Returns to the buyer what was set aside for the challenger's audit, because nobody lost its game.
void return_accusers_fee(Work& work, const Hash256& job, const Game& game);

/// The job's own data are at fault. It ends at the end of the round, unless its end is already decided.
void void_job(Work& work, const Hash256& job);

}  // namespace assay::contracts
