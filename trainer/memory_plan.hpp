// SPDX-License-Identifier: Apache-2.0
// MemoryPlan: where the tensors of a micro-batch lie in one block, two of them sharing memory when one is no
// longer read before the other is first written.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/program/program.hpp"

namespace assay::trainer {

struct MemoryPlan {
    std::vector<std::uint64_t> offsets;  ///< in floats, by tensor id; meaningful for planned tensors only
    std::uint64_t size = 0;              ///< floats of the block
};

/// Plans activations, their gradients and scalars (not parameters, moments, parameter gradients, tokens).
/// `kept` lives to the end of the program.
MemoryPlan plan_memory(const program::Program& program, std::uint64_t sequences,
                       const std::vector<program::TensorId>& kept);

}  // namespace assay::trainer
