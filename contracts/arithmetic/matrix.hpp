// SPDX-License-Identifier: Apache-2.0
// The types of the operands of products: a strided view, and where a sum starts.
#pragma once

#include <cstdint>

namespace assay::arithmetic {

/// A matrix operand: element (i, j) is data[i · row_stride + j · col_stride], strides in floats. Either
/// stride may be 1, so one function serves the layouts x·W, dY·Wᵀ and Xᵀ·dY. Not owned.
struct MatrixView {
    const float* data = nullptr;
    std::uint64_t row_stride = 0;
    std::uint64_t col_stride = 1;
};

/// Sums start at +0, or go on from what the output holds.
enum class ChainStart : std::uint8_t { kZero, kCarry };

}  // namespace assay::arithmetic
