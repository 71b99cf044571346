// SPDX-License-Identifier: Apache-2.0
// Gives games the money and the consequences of their ends (protocol.md §5.1, §7). Each changes the state and
// writes what was lost into the game. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/dispute/records.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The claim dies: its bond is split (the challenger its cost, the buyer what is left of forfeit_buyer_ppm,
/// the rest burned), its held pay returns to the escrow, those who accused it rightly are paid their audits,
/// and the miner is a newcomer again and, unless it conceded, off the job. A verifier that was called, or
/// whose merge it was, loses its bond for the job.
void lose_claim(Work& work, const Hash256& job, Game& game);

/// The challenger's bond: to the claim's owner what the replay costs it, the rest burned. A verifier that
/// accused the claim loses accusation_stake() of what it locked for the job: to the buyer the pay of a slot
/// whose update it kept out, to the claim's owner what the replay costs, the rest burned.
void lose_challenge(Work& work, const Hash256& job, Game& game);

/// The claim waits for those of its accusations that are not used; writes the index of deadlines. The caller
/// stores the claim.
void await_accusers(State& state, const ClaimId& id, Claim& claim);

// accusers.cpp
/// Of those who accuse the claim, in their order: whether the audit of each is worth its fee now that the
/// game is lost by the claim.
///
/// What counts is the root that each had sealed for the unit of the game, whatever unit it accused: who
/// sealed the claimed one is wrong about it, if the ledger computed that; a game that was conceded or left to
/// the clock proves nothing. If the winner accused the claim as well, its word is the
/// measure: of the game's unit, if it had sealed one, else of the unit that the other accused. For an
/// accusation of a merge nothing was set aside, so that nobody's is.
std::vector<bool> right_accusers(const StateView& state, const Hash256& job, const Game& game,
                                 const Claim& claim);
/// The challenger of a game lost its accusation. Once all who accuse the claim did, its slot is work found
/// right. REQUIRES that the claim is not dead.
void note_lost_accusation(Work& work, const Hash256& job, const Game& game);

/// Takes the end of the claim's window out of the index of deadlines, unless another claim of the job ends
/// then.
void forget_window(State& state, const ClaimId& id, const Claim& claim);

/// What was set aside for the challenger's audit is the buyer's again: nobody lost its game.
void return_accusers_fee(Work& work, const Hash256& job, const Game& game);

/// The job's own data are at fault: it ends at the round's border, unless its end is decided.
void void_job(Work& work, const Hash256& job);

}  // namespace assay::contracts
