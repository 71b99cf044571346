// SPDX-License-Identifier: Apache-2.0
// Large pages: a page of 2 MiB takes one entry of the address cache where small ones take 512, and is one
// piece of physical memory.
#pragma once

#include <cstddef>

namespace assay::trainer {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20U;  ///< bytes

/// Asks the kernel to back the large pages that lie in [at, at + bytes) as a whole. A hint: where there are
/// none nothing changes, and the ends take no more memory than before.
void ask_for_large_pages(void* at, std::size_t bytes);

}  // namespace assay::trainer
