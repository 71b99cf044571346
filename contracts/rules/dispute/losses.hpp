// SPDX-License-Identifier: Apache-2.0
// Gives games the money and the consequences of their ends (protocol.md §5.1, §7). Each changes the state and
// writes what was lost into the game. Internal to the rules.
#pragma once

#include "contracts/rules/dispute/records.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Of a game that has ended.
Reason reason_of(const Game& game);

/// The claim dies: its bond is split (the challenger its cost, the buyer what is left of forfeit_buyer_ppm,
/// the rest burned), its held pay returns to the escrow, and unless it conceded the miner is a newcomer again
/// and off the job. A verifier that was called, or whose merge it was, loses its bond for the job.
void lose_claim(Work& work, const Hash256& job, Game& game);

/// The challenger's bond: to the claim's owner what the replay costs it, the rest burned.
void lose_challenge(Work& work, const Hash256& job, Game& game);

/// The job's own data are at fault: it ends at the round's border, unless its end is decided.
void void_job(Work& work, const Hash256& job);

}  // namespace assay::contracts
