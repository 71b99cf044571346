// SPDX-License-Identifier: Apache-2.0
// For kernels with a warp for each row: what its 32 lanes compute together, the law's sum and the first of
// the largest numbers (contracts/arithmetic/reduce.hpp).
#pragma once

#include <cstdint>

#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// What a mutant of a row kernel does wrong.
enum class RowFault : std::uint8_t { kNone, kOtherTree };

/// The law's tree over the lanes; every lane gets the result.
template <RowFault kFault = RowFault::kNone>
ASSAY_SIMT float fold_lanes(const SimtBlock& block, float lane) {
    if constexpr (kFault == RowFault::kOtherTree) {
        for (unsigned lanes = 1; lanes < kWarp; lanes *= 2) lane = add_rn(lane, block.shfl_xor(lane, lanes));
        return lane;
    }
    ASSAY_UNROLL
    for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) lane = add_rn(lane, block.shfl_down(lane, lanes));
    return block.shfl(lane, 0);
}

/// The largest number of a row. Among equals the lowest index wins, since −0 and +0 are equal and have
/// different bits. A lane gives its numbers by ascending index; a lane without numbers begins with any number
/// of the row.
struct Largest {
    float value;
    std::uint32_t at;

    ASSAY_SIMT void see(float other, std::uint32_t index) {
        if (value < other) {
            value = other;
            at = index;
        }
    }
    /// The row's maximum; every lane gets it.
    ASSAY_SIMT float among_lanes(const SimtBlock& block) { return among<kWarp>(block); }
    /// The same for four consecutive lanes that share a row.
    ASSAY_SIMT float among_four(const SimtBlock& block) { return among<4>(block); }

private:
    template <unsigned kLanes>
    ASSAY_SIMT float among(const SimtBlock& block) {
        ASSAY_UNROLL
        for (unsigned lanes = kLanes / 2; lanes > 0; lanes /= 2) {
            const float other = block.shfl_xor(value, lanes);
            const std::uint32_t index = block.shfl_xor(at, lanes);
            if (value < other || (!(other < value) && index < at)) {
                value = other;
                at = index;
            }
        }
        return value;
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
