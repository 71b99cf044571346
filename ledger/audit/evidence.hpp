// SPDX-License-Identifier: Apache-2.0
// Recovers what the state only names, for audits: the records of ended jobs, which the history holds, and the
// reveals and audits of settled rounds, which the block log holds.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "contracts/rules/job/history.hpp"
#include "contracts/rules/state/state.hpp"
#include "ledger/store/block.hpp"
#include "ledger/store/disk.hpp"

namespace assay::ledger {

/// Reads the block of a height. It is called with ascending heights.
using BlockReader = std::function<Outcome<Block>(std::uint64_t height)>;

/// Puts the records of ended jobs back into `state`, from the history that was handed over to it, or from
/// `rows`. Checks each group against the hash that the state keeps. Fails with kVerification when a row is
/// missing or differs; the error names job, table and number. A state with these records is for reading only.
Outcome<void> recover_records(contracts::MemoryState& state);
Outcome<void> recover_records(contracts::MemoryState& state, const contracts::HistoryReader& rows);

/// Puts back into `state` what its settled rounds left to the blocks; for ended jobs REQUIRES that their
/// records are back. Fails with kVerification when a block does not hold what the state names.
Outcome<void> recover_evidence(contracts::MemoryState& state, const BlockReader& read);

/// The same from the log of the ledger in `home`. Fails with kNotFound when there is none.
Outcome<void> recover_evidence(contracts::MemoryState& state, const std::string& home);

/// Opens the block log of the ledger in `home`. Fails with kNotFound when the home has no blocks; the fix
/// says how to fetch them.
Outcome<std::unique_ptr<LogFile>> open_blocks(const std::string& home);

/// Reads the blocks of the ledger in `home`. Fails with kNotFound when there is none.
Outcome<BlockReader> block_reader(const std::string& home);

}  // namespace assay::ledger
