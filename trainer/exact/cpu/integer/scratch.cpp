// SPDX-License-Identifier: Apache-2.0
#include "trainer/exact/cpu/integer/scratch.hpp"

#include <cstdlib>

#include "contracts/base/check.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace assay::trainer::integer {

void Scratch::Free::operator()(std::byte* memory) const { std::free(memory); }

std::byte* Scratch::take(std::uint64_t bytes) {
    if (bytes <= size_) return memory_.get();
    // Whole huge pages where it is large: panels are read end to end.
    constexpr std::uint64_t kSmallPage = 4096, kHugePage = 2U << 20U;
    const std::uint64_t page = bytes < kHugePage ? kSmallPage : kHugePage;
    const std::uint64_t size = (bytes + page - 1) / page * page;
    memory_.reset();
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, size)));
    ASSAY_CHECK(memory_ != nullptr);
    size_ = size;
#if defined(__linux__)
    if (page == kHugePage) static_cast<void>(madvise(memory_.get(), size, MADV_HUGEPAGE));  // a hint
#endif
    return memory_.get();
}

Scratch& product_scratch() {
    static thread_local Scratch scratch;
    return scratch;
}

Scratch& attention_scratch() {
    static thread_local Scratch scratch;
    return scratch;
}

}  // namespace assay::trainer::integer
