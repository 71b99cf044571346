// SPDX-License-Identifier: Apache-2.0
#include "trainer/memory_plan.hpp"

#include <algorithm>

namespace assay::trainer {

namespace {
struct Life {
    std::size_t first = SIZE_MAX;  // operator that writes it first
    std::size_t last = 0;          // operator that touches it last
};

struct Placed {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::size_t last = 0;
};

bool is_planned(program::Role role) {
    return role == program::Role::kActivation || role == program::Role::kGradient ||
           role == program::Role::kScalar;
}

std::vector<Life> lives_of(const program::Program& program) {
    std::vector<Life> lives(program.tensors.size());
    for (std::size_t i = 0; i < program.operators.size(); ++i) {
        const auto touch = [&](program::TensorId id) {
            lives[id].first = std::min(lives[id].first, i);
            lives[id].last = std::max(lives[id].last, i);
        };
        for (const auto id : program.operators[i].operands) touch(id);
        for (const auto id : program.operators[i].outputs) touch(id);
    }
    return lives;
}

// First gap between live blocks (sorted by offset) that holds `size`.
std::uint64_t first_gap(const std::vector<Placed>& live, std::uint64_t size) {
    std::uint64_t at = 0;
    for (const Placed& block : live) {
        if (block.offset >= at + size) break;
        at = std::max(at, block.offset + block.size);
    }
    return at;
}
}  // namespace

MemoryPlan plan_memory(const program::Program& program, std::uint64_t sequences,
                       const std::vector<program::TensorId>& kept) {
    constexpr std::uint64_t kAlignment = 16;  // floats in a cache line
    std::vector<Life> lives = lives_of(program);
    for (const auto id : kept) lives[id].last = SIZE_MAX;
    MemoryPlan plan;
    plan.offsets.resize(program.tensors.size());
    std::vector<Placed> live;
    for (std::size_t i = 0; i < program.operators.size(); ++i) {
        std::erase_if(live, [&](const Placed& block) { return block.last < i; });
        for (const auto id : program.operators[i].outputs) {
            const program::Tensor& tensor = program.tensors[id];
            if (!is_planned(tensor.role) || lives[id].first != i) continue;
            const std::uint64_t count = tensor.rows.of(sequences) * tensor.cols;
            const std::uint64_t size = (count + kAlignment - 1) / kAlignment * kAlignment;
            const Placed block{first_gap(live, size), size, lives[id].last};
            plan.offsets[id] = block.offset;
            plan.size = std::max(plan.size, block.offset + size);
            live.insert(
                std::upper_bound(live.begin(), live.end(), block,
                                 [](const Placed& a, const Placed& b) { return a.offset < b.offset; }),
                block);
        }
    }
    return plan;
}

}  // namespace assay::trainer
