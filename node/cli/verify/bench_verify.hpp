// SPDX-License-Identifier: Apache-2.0
// Gives the bench commands what `assay bench verify` measures: what it costs a miner that its work can be
// verified, and what it costs a verifier.
#pragma once

#include "node/cli/bench_plan.hpp"

namespace assay::node {

/// For the demo's job, GPT-2 5.3M and, where it is asked for, 124M: a slot's round on this thread, timed part
/// by part. Needs as much room for temporary files as the slot's states take. Errors: no room, no memory.
base::Outcome<void> bench_verify(const BenchOptions& options, const BenchReport& report);

}  // namespace assay::node
