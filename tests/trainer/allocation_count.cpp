// SPDX-License-Identifier: Apache-2.0
#include "tests/trainer/allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "trainer/host/scratch.hpp"

namespace {
std::atomic<std::uint64_t> count = 0;
std::atomic<std::uint64_t> plain = 0;
std::atomic<std::uint64_t> aligned = 0;
}  // namespace

namespace assay::trainer::test {
std::uint64_t allocations() { return count + scratch_use().growths; }
HeapBytes heap_bytes() { return {plain, aligned}; }
}  // namespace assay::trainer::test

void* operator new(std::size_t size) {
    ++count;
    plain += size;
    if (void* block = std::malloc(size == 0 ? 1 : size)) return block;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    ++count;
    aligned += size;
    const auto unit = static_cast<std::size_t>(alignment);
    if (void* block = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return block;
    throw std::bad_alloc();
}
// All forms, or a sanitizer sees its own paired with these.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++count;
    plain += size;
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
