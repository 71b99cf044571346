// SPDX-License-Identifier: Apache-2.0
// Gives the bench commands what `assay bench state` measures: whether a block costs more with a longer
// history, and how long a role takes to start from its verified state.
#pragma once

#include "node/cli/bench_plan.hpp"

namespace assay::node {

/// Needs about 500 MiB of memory and as much room for temporary files. Errors: no room, or a state that does
/// not check.
base::Outcome<void> bench_state(const BenchOptions& options, const BenchReport& report);

}  // namespace assay::node
