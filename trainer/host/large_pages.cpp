// SPDX-License-Identifier: Apache-2.0
#include "trainer/host/large_pages.hpp"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace assay::trainer {

void ask_for_large_pages([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    const std::size_t skipped = (kLargePage - reinterpret_cast<std::uintptr_t>(at) % kLargePage) % kLargePage;
    if (bytes < skipped + kLargePage) return;
    const std::size_t whole = (bytes - skipped) / kLargePage * kLargePage;
    static_cast<void>(::madvise(static_cast<char*>(at) + skipped, whole, MADV_HUGEPAGE));
#endif
}

}  // namespace assay::trainer
