// SPDX-License-Identifier: Apache-2.0
// This program's `operator new`: large arrays begin with a cache line, and lie in large pages where the
// kernel has them. A step reads a model's state from end to end: each small page costs a look at the tables
// of guest and host, and vectors across two lines cost two accesses.
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {
constexpr std::size_t kLine = 64, kLargePage = std::size_t{2} << 20U;
constexpr std::size_t kLarge = 2 * kLargePage;

// Only pages that lie in the array as a whole: its ends take no more memory than they have numbers.
void advise([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    const std::size_t skipped = (kLargePage - reinterpret_cast<std::uintptr_t>(at) % kLargePage) % kLargePage;
    const std::size_t whole = (bytes - skipped) / kLargePage * kLargePage;
    static_cast<void>(::madvise(static_cast<char*>(at) + skipped, whole, MADV_HUGEPAGE));  // a hint
#endif
}

void* allocate(std::size_t bytes) noexcept {
    if (bytes < kLarge) return std::malloc(bytes == 0 ? 1 : bytes);
    if (bytes > SIZE_MAX - kLine) return nullptr;
    void* const at = std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
    if (at != nullptr) advise(at, bytes);
    return at;
}

void* allocate_or_throw(std::size_t bytes) {
    for (;;) {
        if (void* const at = allocate(bytes)) return at;
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}
void* allocate_or_null(std::size_t bytes) noexcept {
    try {
        return allocate_or_throw(bytes);
    } catch (...) {
        return nullptr;
    }
}
}  // namespace

// All forms but those with an alignment, or a sanitizer sees its own paired with these.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    return allocate_or_null(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    return allocate_or_null(bytes);
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t /*bytes*/) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t /*bytes*/) noexcept { std::free(at); }
void operator delete(void* at, const std::nothrow_t& /*tag*/) noexcept { std::free(at); }
void operator delete[](void* at, const std::nothrow_t& /*tag*/) noexcept { std::free(at); }
