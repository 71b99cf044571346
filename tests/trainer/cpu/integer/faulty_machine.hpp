// SPDX-License-Identifier: Apache-2.0
// Gives the guard's tests a machine whose multiplier is wrong once.
#pragma once

#include <cstdint>

#include "trainer/cpu/integer/machine.hpp"

namespace assay::trainer::integer::test {

/// Which call of the multiplier is wrong, and how. One thread.
struct MultiplierFault {
    std::uint64_t calls = 0;  ///< so far
    std::uint64_t at = UINT64_MAX;
    std::uint64_t lane = 0;
    std::uint32_t bit = 0;
};
MultiplierFault& fault();

const Machine& faulty_machine();

}  // namespace assay::trainer::integer::test
