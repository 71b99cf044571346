// SPDX-License-Identifier: Apache-2.0
#include "node/audit/step_memory.hpp"

#include <algorithm>
#include <bit>

#include "contracts/program/program.hpp"
#include "contracts/program/spec_check.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::node {

unsigned memory_class_of(std::uint64_t bytes) {
    constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
    const std::uint64_t whole = std::max<std::uint64_t>(1, bytes / kGibibyte + (bytes % kGibibyte != 0));
    return static_cast<unsigned>(std::bit_width(std::bit_ceil(whole)));
}

std::vector<DeviceMemory> step_memory(const program::JobSpec& spec) {
    if (spec.model.layers > kMostPlannedLayers) return {};
    const auto step = program::build_step_program(spec.model, spec.train, spec.profile);
    std::vector<DeviceMemory> found;
    for (const char* name : {"cpu", "cuda-host"}) {
        const auto device = trainer::open_device({.name = name});
        if (!device.ok()) continue;  // this build, or this machine, has no such device
        const trainer::PlanLimits limits{.batch = spec.train.batch};
        const auto quickest = trainer::choose_plan(step, **device, limits);
        if (!quickest.ok()) continue;
        const trainer::AllocationPlan least = trainer::smallest_plan(step, **device, spec.train.batch);
        DeviceMemory memory;
        memory.device = name;
        memory.least = trainer::state_bytes(step, least.choice) + least.bytes();
        // A budget holds the smallest plan in any case.
        memory.most =
            std::max(memory.least, trainer::state_bytes(step, quickest->choice) + quickest->bytes());
        memory.memory_class = memory_class_of(memory.least);
        found.push_back(std::move(memory));
    }
    return found;
}

std::optional<std::uint64_t> least_step_bytes(const program::JobSpec& spec) {
    // It may come from a node, which is not believed that the rules took it.
    if (!program::check_spec(spec)) return std::nullopt;
    const auto memory = step_memory(spec);
    if (memory.empty()) return std::nullopt;
    return std::ranges::min_element(memory, {}, &DeviceMemory::least)->least;
}

}  // namespace assay::node
