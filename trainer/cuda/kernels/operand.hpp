// SPDX-License-Identifier: Apache-2.0
// Operands of products: strided matrices, of which a launch may take many (one for each head of a sequence),
// and the parts of a product that the causal mask leaves.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/number_watch.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Element (i, j) of matrix z lies at data[(z / inner) · outer_stride + (z % inner) / sharing · inner_stride
/// + i · row_stride + j · col_stride], with strides in floats. z counts heads within sequences; `sharing`
/// consecutive heads have the same matrix.
struct OperandPlace {
    std::uint64_t row_stride = 0;
    std::uint64_t col_stride = 1;
    std::uint64_t outer_stride = 0;
    std::uint64_t inner_stride = 0;
    unsigned inner = 1;
    unsigned sharing = 1;

    [[nodiscard]] ASSAY_BOTH std::uint64_t matrix(unsigned z) const {
        return z / inner * outer_stride + z % inner / sharing * inner_stride;
    }
    /// The offset from matrix(z), which costs divisions, to element (i, j).
    [[nodiscard]] ASSAY_BOTH std::uint64_t element(unsigned i, unsigned j) const {
        return i * row_stride + j * col_stride;
    }
    [[nodiscard]] ASSAY_BOTH std::uint64_t at(unsigned z, unsigned i, unsigned j) const {
        return matrix(z) + element(i, j);
    }
};

struct OperandView {
    const float* data = nullptr;
    OperandPlace place;
};

/// The part of a product c[i,j] = Σ a[i,k] · b[k,j] that is computed.
enum class Mask : std::uint8_t {
    kNone,
    kLower,   ///< outputs j <= i; others are not written
    kUpTo,    ///< terms k <= i
    kFromOn,  ///< terms k >= i
};

/// What a mutant of a product does wrong: the tests must find it.
enum class ProductFault : std::uint8_t {
    kNone,
    kPaddedTail,      ///< it adds zeros for terms that do not exist
    kMissingBarrier,  ///< it overwrites a tile while other threads still read it
    kCutSum,          ///< i16: the last digits of a sum are cut off, not rounded
    kStaleDigits,     ///< i16: the zeros after the last k are not written
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
