// SPDX-License-Identifier: Apache-2.0
// Sizes and small helpers that CpuDevice's source files share.
#pragma once

#include <cstdint>
#include <span>

#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

/// A trial of AdamW works on a thread's copies of parameters and both moments, so many numbers at a time.
inline constexpr std::uint64_t kTrialArrays = 3;
inline constexpr std::uint64_t kTrialLength = 1024;

/// How a weight gradient over a step's rows from row `first` on begins: the step's first rows overwrite it
/// (PlanHints::starts_weight_gradients), later ones add to it.
inline ChainStart start_of_gradient(std::uint64_t first) {
    return first == 0 ? ChainStart::kZero : ChainStart::kCarry;
}

inline std::span<const float> view(const float* data, std::size_t size) { return {data, size}; }
inline std::span<float> floats(float* data, std::size_t size) { return {data, size}; }

}  // namespace assay::trainer
