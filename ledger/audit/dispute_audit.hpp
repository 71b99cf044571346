// SPDX-License-Identifier: Apache-2.0
// Gives auditors a finished game again, from the blocks alone: every move is checked, and what the referee
// computed is computed once more.
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
    /// What the witness comes to, of a game that was judged.
    std::optional<dispute::GameVerdict> verdict;
    /// The transaction that ended it: the witness, or the concession. Nothing: a clock or another game did.
    std::optional<contracts::Hash256> transaction;
    /// How long the referee computed here, where there was a clock to ask and a witness.
    std::optional<std::uint64_t> referee_ns;
    std::vector<std::string> wrong;  ///< empty: the moves and the verdict are those that the ledger says
    [[nodiscard]] bool ok() const { return wrong.empty(); }
};

/// Nanoseconds since any moment.
using ClockReader = std::function<std::uint64_t()>;

/// Plays the game again. REQUIRES a state whose evidence is recovered. kNotFound: there is no such game, or
/// it has not ended. kVerification: a block cannot be read, or what was disputed is not in the state. Turns
/// are not judged again: what speed was measured when it began is gone. `clock` times the referee; none: it
/// is not timed.
Outcome<DisputeReport> audit_dispute(const contracts::StateView& state, const DisputeName& name,
                                     const BlockReader& read, const ClockReader& clock = {});

/// The transaction of the block that ended the game, as DisputeReport::transaction. Bytes that are no
/// transaction are passed over.
std::optional<contracts::Hash256> ending_transaction(const Block& block, const DisputeName& name);

}  // namespace assay::ledger
