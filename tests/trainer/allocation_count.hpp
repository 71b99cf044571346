// SPDX-License-Identifier: Apache-2.0
// Counts what this test program asks of operator new, which allocation_count.cpp replaces.
#pragma once

#include <cstdint>

namespace assay::trainer::test {

/// Calls of operator new since the program began, on all threads.
std::uint64_t allocations();

}  // namespace assay::trainer::test
