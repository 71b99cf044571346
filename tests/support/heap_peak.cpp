// SPDX-License-Identifier: Apache-2.0
#include "tests/support/heap_peak.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> in_use = 0;
std::atomic<std::uint64_t> peak = 0;

void* counted(void* block) {
    if (block == nullptr) return nullptr;
    const std::uint64_t now = in_use += malloc_usable_size(block);
    std::uint64_t highest = peak;
    while (now > highest && !peak.compare_exchange_weak(highest, now)) {
    }
    return block;
}
void* needed(void* block) {
    if (block == nullptr) throw std::bad_alloc();
    return counted(block);
}
void give_back(void* block) {
    if (block == nullptr) return;
    in_use -= malloc_usable_size(block);
    std::free(block);
}
}  // namespace

namespace assay::tests {
std::uint64_t heap_in_use() { return in_use; }
std::uint64_t heap_peak() { return peak; }
void forget_heap_peak() { peak = in_use.load(); }
}  // namespace assay::tests

void* operator new(std::size_t size) { return needed(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    return needed(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
// All forms, or a sanitizer sees its own paired with these.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted(std::malloc(size == 0 ? 1 : size));
}
void operator delete(void* block, const std::nothrow_t&) noexcept { give_back(block); }
void operator delete(void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
