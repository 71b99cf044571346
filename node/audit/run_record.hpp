// SPDX-License-Identifier: Apache-2.0
// Gives commands the run record of a job, from the ledger: what `assay model train --record` needs to
// compute the same model without it.
#pragma once

#include "contracts/rules/tables.hpp"
#include "node/config/record_file.hpp"

namespace assay::node {

/// Rounds up to the last one that was merged, in order; one that was not accepts nothing and leaves the
/// state.
RunRecord run_record(const contracts::StateView& state, const contracts::Job& job);

/// Tokens of the updates that were merged, repetitions counted.
std::uint64_t merged_tokens(const contracts::StateView& state, const contracts::Job& job);

}  // namespace assay::node
