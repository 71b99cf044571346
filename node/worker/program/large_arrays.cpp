// SPDX-License-Identifier: Apache-2.0
// This program's `operator new`: large arrays begin with a cache line, and lie in large pages where the
// kernel has them. A step reads a model's state from end to end: each small page costs a look at the tables
// of guest and host, and vectors across two lines cost two accesses.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "trainer/host/large_pages.hpp"

namespace {
constexpr std::size_t kLine = 64;
constexpr std::size_t kLarge = 2 * assay::trainer::kLargePage;

void* allocate(std::size_t bytes) noexcept {
    if (bytes < kLarge) return std::malloc(bytes == 0 ? 1 : bytes);
    if (bytes > SIZE_MAX - kLine) return nullptr;
    void* const at = std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
    if (at != nullptr) assay::trainer::ask_for_large_pages(at, bytes);
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
