// SPDX-License-Identifier: Apache-2.0
// Checks what games moved, for the audit of payments: bond, loss and parts of each, computed again by
// separate code from the claim that it was about, and whether every accusation had its game. Internal to the
// audit.
#pragma once

#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::ledger {

/// The verifier whose locked stake the game took; null when it took nobody's.
const contracts::PublicKey* verifier_that_lost(const contracts::Game& game);

// These functions return sentences that begin with the name of the rule; none when all is right.

/// Checks the amounts of every game of the job. Records do not always tell in which order two things happened
/// at one height; then whatever one of the orders gives is right.
std::vector<std::string> audit_games(const contracts::StateView& state, const contracts::Job& job,
                                     const contracts::Params& params,
                                     const std::vector<contracts::Round>& rounds);

/// Checks that whoever accused a claim that is open no more played its game, or that the claim died in
/// another one.
std::vector<std::string> audit_accusers(const contracts::StateView& state, const contracts::Job& job,
                                        const std::vector<contracts::Round>& rounds);

}  // namespace assay::ledger
