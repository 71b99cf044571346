// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/round_memory.hpp"

#include <algorithm>

#include "contracts/program/program.hpp"
#include "contracts/program/round_law.hpp"
#include "trainer/run/state.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {

std::uint64_t beside_step_bytes(const program::JobSpec& spec) {
    const std::uint64_t count = program::parameter_count(spec.model);
    const std::uint64_t array = count * sizeof(float);
    const std::uint64_t update = count * sizeof(decltype(Update::values)::value_type) +
                                 program::strategy_of(spec).most_update_bytes(count);
    const std::uint64_t moments = 2 * array;
    if (program::carries_state(spec)) return array + moments + update;
    return array + update - std::min(moments, update);
}

std::uint64_t reserved_bytes(const program::JobSpec& spec, const Device& device) {
    const auto evaluation = program::build_evaluate_program(spec.model, spec.profile);
    // A step and an evaluation take turns in one process; the evaluation gets what the step leaves, and at
    // least what one sequence needs.
    const std::uint64_t sequence = smallest_plan(evaluation, device, spec.train.batch).bytes();
    // What a round holds lies in the host's memory, which is another budget where a device has its own.
    return device.capacity() ? sequence : sequence + beside_step_bytes(spec);
}

base::Outcome<RoundMemory> round_memory(const program::JobSpec& spec, const Device& device) {
    const auto step = program::build_step_program(spec.model, spec.train, spec.profile);
    ASSAY_ASSIGN(const AllocationPlan quickest, choose_plan(step, device, {.batch = spec.train.batch}));
    const AllocationPlan least = smallest_plan(step, device, spec.train.batch);
    const std::uint64_t reserved = reserved_bytes(spec, device);
    RoundMemory memory;
    memory.least = state_bytes(step, least.choice) + least.bytes() + reserved;
    // A budget holds the smallest plan in any case.
    memory.most = std::max(memory.least, state_bytes(step, quickest.choice) + quickest.bytes() + reserved);
    return memory;
}

}  // namespace assay::trainer
