// SPDX-License-Identifier: Apache-2.0
// What the state only names, for the audits that read it: the records of ended jobs, which the history holds,
// and the reveals and audits of settled rounds, which the block log holds.
#pragma once

#include <functional>
#include <string>

#include "contracts/rules/job/history.hpp"
#include "contracts/rules/state/state.hpp"
#include "ledger/store/block.hpp"

namespace assay::ledger {

/// The block of a height. It is asked for ascending heights.
using BlockReader = std::function<Outcome<Block>(std::uint64_t height)>;

/// Puts the records of ended jobs back into `state`, from the history that was handed over to it, or from
/// `rows`; each group is checked against the hash that the state keeps. kVerification: a row is missing or is
/// another one, by job, table and number. What holds a state with them is for reading alone.
Outcome<void> recover_records(contracts::MemoryState& state);
Outcome<void> recover_records(contracts::MemoryState& state, const contracts::HistoryReader& rows);

/// Puts back into `state` what its settled rounds left to the blocks; those of ended jobs once their records
/// are back. kVerification: a block does not hold what the state says it holds.
Outcome<void> recover_evidence(contracts::MemoryState& state, const BlockReader& read);

/// The same from the log of the ledger in `home`. kNotFound: there is none.
Outcome<void> recover_evidence(contracts::MemoryState& state, const std::string& home);

/// Reads the blocks of the ledger in `home`. kNotFound: there is none.
Outcome<BlockReader> block_reader(const std::string& home);

}  // namespace assay::ledger
