// SPDX-License-Identifier: Apache-2.0
#include "trainer/arena.hpp"

#include <cstdlib>
#include <new>
#include <vector>

namespace assay::trainer {

namespace {
class HeapArena final : public Arena {
public:
    ~HeapArena() override {
        for (float* block : blocks_) std::free(block);
    }
    float* allocate(std::size_t count) override {
        constexpr std::size_t kAlignment = 64;
        constexpr std::size_t kFloats = kAlignment / sizeof(float);
        if (count > SIZE_MAX / sizeof(float) - kFloats) throw std::bad_alloc();
        const std::size_t rounded = (count / kFloats + 1) * kFloats;
        blocks_.reserve(blocks_.size() + 1);
        auto* block = static_cast<float*>(std::aligned_alloc(kAlignment, rounded * sizeof(float)));
        if (block == nullptr) throw std::bad_alloc();
        blocks_.push_back(block);
        return block;
    }
    [[nodiscard]] std::string_view name() const override { return "heap"; }

private:
    std::vector<float*> blocks_;
};
}  // namespace

std::unique_ptr<Arena> make_heap_arena() { return std::make_unique<HeapArena>(); }

}  // namespace assay::trainer
