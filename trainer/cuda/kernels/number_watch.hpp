// SPDX-License-Identifier: Apache-2.0
// With NumberWatch kernels check the numbers that they write, or read anyway, so that no other kernel has to
// read them again to find out whether all are finite.
#pragma once

#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// No operator: every number so far was finite.
inline constexpr unsigned kNoOperator = 0xffffffffU;

ASSAY_SIMT bool is_finite(float x) { return (bits_of(x) & 0x7f800000) != 0x7f800000; }

/// Whether all numbers that it saw are finite. The product of zero with any other is a NaN.
class AllFinite {
public:
    ASSAY_SIMT void see(float x) { zero_ = fma_rn(x, 0.0F, zero_); }
    [[nodiscard]] ASSAY_SIMT bool found() const { return is_finite(zero_); }

private:
    float zero_ = 0.0F;
};

/// The operator whose numbers a kernel checks.
struct NumberWatch {
    unsigned* diverged = nullptr;  ///< the smallest operator that was noted; null: not wanted
    unsigned index = 0;            ///< the operator

    /// Every thread calls it once, for all numbers that it saw.
    ASSAY_SIMT void note(const SimtBlock& block, bool finite) const {
        if (!finite && diverged != nullptr) block.atomic_min(diverged, index);
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
