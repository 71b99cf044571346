// SPDX-License-Identifier: Apache-2.0
// Measures the heap of a test program, whose operator new heap_peak.cpp replaces.
#pragma once

#include <cstdint>

namespace assay::tests {

/// Bytes of operator new that were not given back yet, on all threads.
std::uint64_t heap_in_use();
/// The most that were in use since the last forget_heap_peak().
std::uint64_t heap_peak();
void forget_heap_peak();

}  // namespace assay::tests
