// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench gemm` and `assay bench train` their rows on a card, compared with PyTorch on the same
// card. On the emulation ("cuda-host") they take small shapes and have no peer; the numbers there are not the
// speed of any device.
#pragma once

#include "node/cli/bench_plan.hpp"

namespace assay::node {

/// Measures products of both profiles; i16 packs its operands. Errors: those of BenchSides::of_device.
base::Outcome<void> bench_card_products(const BenchOptions& options, const BenchReport& report);
/// Measures steps, their planned memory and the time of their kernels, the roots of a slot's state compared
/// with its copy to the host, and the cost of tracing for a segment of sixteen steps. Errors: those of
/// BenchSides::of_device.
base::Outcome<void> bench_card_steps(const BenchOptions& options, const BenchReport& report);

}  // namespace assay::node
