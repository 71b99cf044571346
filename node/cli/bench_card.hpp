// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench gemm` and `assay bench train` their rows on a card, beside PyTorch on the same card. On
// the emulation ("cuda-host") they take small shapes and meet nobody: what they print there is no speed of
// anything.
#pragma once

#include "node/cli/bench_plan.hpp"

namespace assay::node {

/// Products of both profiles; i16 packs its operands. Errors of BenchSides::of_device.
base::Outcome<void> bench_card_products(const BenchOptions& options, const BenchReport& report);
/// Steps, what they plan for and what their kernels took, roots of a slot's state beside its copy to the
/// host, and what tracing costs a segment of sixteen steps. Errors of BenchSides::of_device.
base::Outcome<void> bench_card_steps(const BenchOptions& options, const BenchReport& report);

}  // namespace assay::node
