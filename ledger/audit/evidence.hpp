// SPDX-License-Identifier: Apache-2.0
// What the state only names and the block log holds, for the audits that read it: reveals and audits of
// settled rounds.
#pragma once

#include <functional>
#include <string>

#include "contracts/rules/state/state.hpp"
#include "ledger/store/block.hpp"

namespace assay::ledger {

/// The block of a height. It is asked for ascending heights.
using BlockReader = std::function<Outcome<Block>(std::uint64_t height)>;

/// Puts back into `state` what its settled rounds left to the blocks. kVerification: a block does not hold
/// what the state says it holds.
Outcome<void> recover_evidence(contracts::MemoryState& state, const BlockReader& read);

/// The same from the log of the ledger in `home`. kNotFound: there is none.
Outcome<void> recover_evidence(contracts::MemoryState& state, const std::string& home);

}  // namespace assay::ledger
