// SPDX-License-Identifier: Apache-2.0
// This program's `operator new`: large arrays lie in large pages, where the kernel has them. A step reads a
// model's state from end to end, and each small page costs a look at the tables of guest and host. Without
// large pages nothing changes.
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {
constexpr std::size_t kLargePage = std::size_t{2} << 20U;

void* allocate(std::size_t bytes) {
    if (bytes < 2 * kLargePage) return std::malloc(bytes == 0 ? 1 : bytes);
    if (bytes > SIZE_MAX - kLargePage) return nullptr;
    void* const at = std::aligned_alloc(kLargePage, (bytes / kLargePage + 1) * kLargePage);
#if defined(__linux__)
    // Whole pages alone: the end of an array takes no more memory than it has numbers.
    if (at != nullptr) static_cast<void>(::madvise(at, bytes / kLargePage * kLargePage, MADV_HUGEPAGE));
#endif
    return at;
}
}  // namespace

void* operator new(std::size_t bytes) {
    for (;;) {
        if (void* const at = allocate(bytes)) return at;
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t /*bytes*/) noexcept { std::free(at); }
