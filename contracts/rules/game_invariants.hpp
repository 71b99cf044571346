// SPDX-License-Identifier: Apache-2.0
// The invariants of the games that claimants play and of those that wait for them (dispute/queue.hpp), for
// the check of a state. That each game of a job is in its index: claim_invariants.hpp. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/claim_invariants.hpp"

namespace assay::contracts {

/// Checks that each entry names a game that is played, or waits, as it says; that each owner's first waiting
/// game is the head of its queue, and no other; and that no game waits while its claimant plays fewer than
/// kGamesAtOnce.
InvariantResult check_queues(const StateView& state);
/// Checks the same after a change of these entries, if it held before. Reads what they name, not all games.
InvariantResult check_queues(const StateView& before, const StateView& now, const std::vector<Bytes>& keys);

}  // namespace assay::contracts
