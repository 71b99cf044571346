// SPDX-License-Identifier: Apache-2.0
// A machine that counts what it does, and whose multiplier can be wrong once: for the guard's tests, and for
// those of work that is left out where numbers allow it.
#pragma once

#include <cstdint>

#include "trainer/cpu/integer/machine.hpp"

namespace assay::trainer::integer::test {

/// Which call of the multiplier is wrong, and how. One thread.
struct MultiplierFault {
    std::uint64_t calls = 0;  ///< so far, of multiplication: packing's energies do not count, and are right
    std::uint64_t at = UINT64_MAX;
    std::uint64_t lane = 0;
    std::uint32_t bit = 0;
    std::uint64_t moves = 0;  ///< of upper bits, a vector each (tile_runs-inl.hpp)
    bool multiplies = false;  ///< at the moment
};
MultiplierFault& fault();

const Machine& faulty_machine();

}  // namespace assay::trainer::integer::test
