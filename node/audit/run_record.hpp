// SPDX-License-Identifier: Apache-2.0
// Gives commands the run record of a job, from the ledger. `assay model train --record` needs it to compute
// the same model without the ledger.
#pragma once

#include "contracts/rules/tables.hpp"
#include "node/config/record_file.hpp"

namespace assay::node {

/// The rounds up to the last merged one, in order. A round that was not merged accepts nothing and leaves the
/// state unchanged.
RunRecord run_record(const contracts::StateView& state, const contracts::Job& job);

/// Tokens of the merged updates; repeated tokens count each time.
std::uint64_t merged_tokens(const contracts::StateView& state, const contracts::Job& job);

}  // namespace assay::node
