// SPDX-License-Identifier: Apache-2.0
#include "trainer/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace assay::trainer {

namespace {
constexpr std::array kLevels = {Recompute::kNothing, Recompute::kCheap, Recompute::kLayers};
// Enough for a product to run at full speed; more only takes memory.
constexpr std::uint64_t kUsefulTokens = 2048;
constexpr std::uint64_t kUsefulHeadRows = 1024;
constexpr std::uint64_t kLeastHeadRows = 64;

std::uint32_t useful_micro_batch(const program::Program& program, const PlanLimits& limits) {
    if (limits.micro_batch != 0) return std::min(limits.micro_batch, limits.batch);
    const std::uint64_t wanted = std::max<std::uint64_t>(1, kUsefulTokens / program.model.context);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, limits.batch));
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }
}  // namespace

std::uint64_t state_bytes(const program::Program& program) {
    const bool trains = program.operators.back().kind == program::OperatorKind::kAdamW;
    return (trains ? 3 : 1) * program::parameter_count(program.model) * sizeof(float);
}

MemoryPlan smallest_plan(const program::Program& program, const Backend& backend, std::uint32_t batch) {
    return plan_memory(program, backend, {1, Recompute::kLayers, kLeastHeadRows}, batch);
}

base::Outcome<MemoryPlan> choose_plan(const program::Program& program, const Backend& backend,
                                      const PlanLimits& limits) {
    const std::uint64_t state = state_bytes(program);
    const std::uint32_t most = useful_micro_batch(program, limits);
    for (const Recompute recompute : kLevels) {
        for (std::uint32_t micro_batch = most; micro_batch >= 1; micro_batch /= 2) {
            for (std::uint64_t rows = kUsefulHeadRows; rows >= kLeastHeadRows; rows /= 2) {
                MemoryPlan plan = plan_memory(program, backend, {micro_batch, recompute, rows}, limits.batch);
                if (limits.bytes == 0 || state + plan.bytes() <= limits.bytes) return plan;
            }
            if (limits.micro_batch != 0) break;
        }
    }
    PlanChoice least{limits.micro_batch != 0 ? most : 1, Recompute::kLayers, kLeastHeadRows};
    const std::uint64_t needed = state + plan_memory(program, backend, least, limits.batch).bytes();
    return base::fail(base::ErrorKind::kPreflight,
                      "a memory budget of " + std::to_string(limits.bytes) + " bytes (" +
                          mebibytes(limits.bytes) + ") cannot hold one sequence of this model: " +
                          std::to_string(needed) + " bytes (" + mebibytes(needed) + ") are needed",
                      "give at least " + mebibytes(needed));
}

}  // namespace assay::trainer
