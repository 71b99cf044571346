// SPDX-License-Identifier: Apache-2.0
// Gives the bench commands what `assay bench verify` measures: the cost of verifiability for a miner, and the
// cost of verifying for a verifier.
#pragma once

#include "node/cli/bench_plan.hpp"

namespace assay::node {

/// Times a slot's round on this thread, part by part, for the demo's job, GPT-2 5.3M and, if asked for, 124M.
/// Needs room for temporary files of the size of the slot's states. Errors: no room, no memory.
base::Outcome<void> bench_verify(const BenchOptions& options, const BenchReport& report);

}  // namespace assay::node
