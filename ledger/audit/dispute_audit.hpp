// SPDX-License-Identifier: Apache-2.0
// Gives auditors a finished game again, from the blocks alone: every move is checked, and what the referee
// computed is computed once more.
#pragma once

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
    std::vector<std::string> wrong;  ///< empty: the moves and the verdict are those that the ledger says
    [[nodiscard]] bool ok() const { return wrong.empty(); }
};

/// Plays the game again. REQUIRES a state whose evidence is recovered. kNotFound: there is no such game, or
/// it has not ended. kVerification: a block cannot be read. Clocks are not judged again: what speed was
/// measured when it began is gone.
Outcome<DisputeReport> audit_dispute(const contracts::StateView& state, const DisputeName& name,
                                     const BlockReader& read);

}  // namespace assay::ledger
