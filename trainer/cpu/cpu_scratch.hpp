// SPDX-License-Identifier: Apache-2.0
// Gives CpuDevice's source files the sizes that they share.
#pragma once

#include <cstdint>
#include <span>

#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

/// AdamW on trial: a thread's copies of parameters and both moments.
inline constexpr std::uint64_t kTrialArrays = 3;
inline constexpr std::uint64_t kTrialLength = 1024;

/// Of a gradient of weights over rows of a step from row `first` on: the first ones write it
/// (PlanHints::starts_weight_gradients), the others add to it.
inline ChainStart start_of_gradient(std::uint64_t first) {
    return first == 0 ? ChainStart::kZero : ChainStart::kCarry;
}

inline std::span<const float> view(const float* data, std::size_t size) { return {data, size}; }
inline std::span<float> floats(float* data, std::size_t size) { return {data, size}; }

}  // namespace assay::trainer
