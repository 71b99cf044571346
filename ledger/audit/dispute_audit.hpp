// SPDX-License-Identifier: Apache-2.0
// Replays a finished game from the blocks only: checks every move, and computes again what the referee
// computed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/dispute/referee.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/audit/evidence.hpp"

namespace assay::ledger {

/// The name of a game.
struct DisputeName {
    contracts::Hash256 job;
    std::uint32_t game = 0;
};

struct DisputeReport {
    contracts::Game game;           ///< as the ledger has it
    std::vector<std::string> path;  ///< what was disputed after each pick, in words; the last is the end
    /// The verdict on the witness, for a game that was judged.
    std::optional<dispute::GameVerdict> verdict;
    /// The transaction that ended it: the witness, or the concession. Nothing when a clock or another game
    /// ended it.
    std::optional<contracts::Hash256> transaction;
    /// How long the referee computed here, if there was a clock and a witness.
    std::optional<std::uint64_t> referee_ns;
    std::vector<std::string> wrong;  ///< empty when the moves and the verdict are those of the ledger
    [[nodiscard]] bool ok() const { return wrong.empty(); }
};

/// Nanoseconds since any fixed moment.
using ClockReader = std::function<std::uint64_t()>;

/// Plays the game again. REQUIRES a state whose evidence is recovered. Fails with kNotFound when there is no
/// such game or it has not ended, and with kVerification when a block cannot be read or what was disputed is
/// not in the state. Turns are not judged again, because the speed that was measured when the game began is
/// gone. `clock`, if given, times the referee.
Outcome<DisputeReport> audit_dispute(const contracts::StateView& state, const DisputeName& name,
                                     const BlockReader& read, const ClockReader& clock = {});

/// The transaction of the block that ended the game, as in DisputeReport::transaction. Skips bytes that are
/// no transaction.
std::optional<contracts::Hash256> ending_transaction(const Block& block, const DisputeName& name);

}  // namespace assay::ledger
