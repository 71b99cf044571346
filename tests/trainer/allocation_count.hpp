// SPDX-License-Identifier: Apache-2.0
// Counts what this test program asks of operator new, which allocation_count.cpp replaces, and of the
// products' scratch memory, which counts itself.
#pragma once

#include <cstdint>

namespace assay::trainer::test {

/// Calls of operator new and growths of scratch memory since the program began, on all threads.
std::uint64_t allocations();

/// What operator new was asked for since the program began, given back or not.
struct HeapBytes {
    std::uint64_t plain = 0;
    std::uint64_t aligned = 0;  ///< with an alignment: packed operands of profile f32
};
HeapBytes heap_bytes();

}  // namespace assay::trainer::test
