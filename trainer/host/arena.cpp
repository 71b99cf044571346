// SPDX-License-Identifier: Apache-2.0
#include "trainer/host/arena.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "trainer/host/large_pages.hpp"

namespace assay::trainer {

namespace {
class HeapArena final : public Arena {
public:
    ~HeapArena() override {
        for (float* block : blocks_) std::free(block);
    }
    float* allocate(std::size_t count) override {
        constexpr std::size_t kCacheLine = 64;
        if (count > SIZE_MAX / sizeof(float) - kLargePage) throw std::bad_alloc();
        const std::size_t bytes = count * sizeof(float);
        const std::size_t unit = bytes < 2 * kLargePage ? kCacheLine : kLargePage;
        const std::size_t rounded = (bytes / unit + 1) * unit;
        blocks_.reserve(blocks_.size() + 1);
        auto* block = static_cast<float*>(std::aligned_alloc(unit, rounded));
        if (block == nullptr) throw std::bad_alloc();
        if (unit == kLargePage) ask_for_large_pages(block, rounded);
        blocks_.push_back(block);
        return block;
    }
    void release(float* block) override {
        const auto found = std::find(blocks_.begin(), blocks_.end(), block);
        if (found == blocks_.end()) return;
        blocks_.erase(found);
        std::free(block);
    }
    [[nodiscard]] std::string_view name() const override { return "heap"; }

private:
    std::vector<float*> blocks_;
};
}  // namespace

std::unique_ptr<Arena> make_heap_arena() { return std::make_unique<HeapArena>(); }

}  // namespace assay::trainer
