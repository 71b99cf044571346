// SPDX-License-Identifier: Apache-2.0
// An executor with all that it stands on, and states for it.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "contracts/program/initial.hpp"
#include "contracts/program/reference_step.hpp"
#include "contracts/program/schedule.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/step/executor.hpp"

namespace assay::trainer::test {

/// Gives out memory of the heap, full of NaN, and counts it.
class CountingArena final : public Arena {
public:
    float* allocate(std::size_t count) override {
        floats += count;
        float* const at = heap_->allocate(count);
        std::fill_n(at, count, std::numeric_limits<float>::quiet_NaN());
        return at;
    }
    [[nodiscard]] std::string_view name() const override { return "counting"; }
    std::uint64_t floats = 0;

private:
    std::unique_ptr<Arena> heap_ = make_heap_arena();
};

struct ExecutorMachine {
    ExecutorMachine(const program::Program& program, Target target, int threads, const PlanChoice& choice,
                    std::uint32_t batch)
        : device(target, threads, &arena),
          executor(program, device, plan_allocation(program, device, choice, batch)) {}
    /// A step by itself, the state adopted for it alone.
    StepResult step(const arithmetic::AdamWCoefficients& coefficients, std::span<const std::uint32_t> tokens,
                    program::SlotArrays& state) {
        AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
        const StepResult result = executor.step(coefficients, tokens, adopted.at());
        adopted.sync();
        return result;
    }
    CountingArena arena;
    CpuDevice device;
    Executor executor;
};

inline program::SlotArrays initial_state(const program::JobSpec& spec) {
    program::SlotArrays state;
    state.parameters = program::initial_parameters(spec.model, spec.seed);
    state.first_moment.assign(state.parameters.size(), 0.0F);
    state.second_moment = state.first_moment;
    return state;
}

inline std::vector<std::uint32_t> batch_of(const program::JobSpec& spec, std::uint32_t sequences,
                                           unsigned seed) {
    const auto tokens = small_tokens(sequences * (spec.model.context + 1), spec.model.vocabulary, seed);
    return {tokens.begin(), tokens.end()};
}

inline bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
inline bool same(const program::SlotArrays& a, const program::SlotArrays& b) {
    return same(a.parameters, b.parameters) && same(a.first_moment, b.first_moment) &&
           same(a.second_moment, b.second_moment);
}

inline constexpr Rematerialise kAllRematerialise[] = {Rematerialise::kNothing, Rematerialise::kCheap,
                                                      Rematerialise::kLayers};

}  // namespace assay::trainer::test
