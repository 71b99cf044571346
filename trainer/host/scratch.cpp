// SPDX-License-Identifier: Apache-2.0
#include "trainer/host/scratch.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "trainer/host/large_pages.hpp"

namespace assay::trainer {

namespace {
constexpr std::uint64_t kSmallPage = 4096;
// What is read again and again stays in the second cache when its addresses are in one piece there: small
// pages, which lie anywhere, push each other out by chance, a third of a product's speed at worst.
constexpr std::uint64_t kLarge = kLargePage / 8;

std::atomic<std::uint64_t> bytes_held = 0;
std::atomic<std::uint64_t> growths = 0;

std::uint64_t page_for(std::uint64_t bytes) { return bytes < kLarge ? kSmallPage : kLargePage; }
}  // namespace

void Scratch::Free::operator()(std::byte* memory) const { std::free(memory); }

Scratch::~Scratch() { drop(); }

void Scratch::drop() {
    memory_.reset();
    bytes_held -= size_;
    size_ = 0;
}

std::uint64_t Scratch::size_for(std::uint64_t bytes) {
    const std::uint64_t page = page_for(bytes);
    return (bytes + page - 1) / page * page;
}

std::byte* Scratch::take(std::uint64_t bytes) {
    if (bytes <= size_) return memory_.get();
    const std::uint64_t size = size_for(bytes);
    drop();
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page_for(bytes), size)));
    if (memory_ == nullptr) throw std::bad_alloc();
    size_ = size;
    bytes_held += size;
    ++growths;
    ask_for_large_pages(memory_.get(), size);
    return memory_.get();
}

ScratchUse scratch_use() { return {bytes_held, growths}; }

Scratch& product_scratch() {
    static thread_local Scratch scratch;
    return scratch;
}

Scratch& attention_scratch() {
    static thread_local Scratch scratch;
    return scratch;
}

bool prepare_attention_scratch(std::uint64_t bytes) {
    try {
        attention_scratch().take(bytes);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

}  // namespace assay::trainer
