// SPDX-License-Identifier: Apache-2.0
#include "node/audit/step_memory.hpp"

#include <algorithm>
#include <bit>

#include "contracts/program/spec_check.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/host/targets.hpp"
#include "trainer/run/round_memory.hpp"

namespace assay::node {

unsigned memory_class_of(std::uint64_t bytes) {
    constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
    const std::uint64_t whole = std::max<std::uint64_t>(1, bytes / kGibibyte + (bytes % kGibibyte != 0));
    return static_cast<unsigned>(std::bit_width(std::bit_ceil(whole)));
}

namespace {
/// As a worker of this machine opens them: what products pack for depends on kernels and threads.
std::vector<trainer::DeviceOptions> planned_devices() {
    constexpr std::uint64_t kPlenty = std::uint64_t{1} << 50U;
    std::vector<trainer::DeviceOptions> devices;
    const auto target = trainer::choose_target(trainer::targets_from_environment());
    const auto threads = trainer::threads_from_environment();
    if (target.ok() && threads.ok())
        devices.push_back({.name = "cpu", .threads = *threads, .cpu = {.target = *target}});
    devices.push_back({.name = "cuda-host", .memory = kPlenty});
    return devices;
}
}  // namespace

std::vector<DeviceMemory> step_memory(const program::JobSpec& spec) {
    if (spec.model.layers > kMostPlannedLayers) return {};
    std::vector<DeviceMemory> found;
    for (const trainer::DeviceOptions& options : planned_devices()) {
        const auto device = trainer::open_device(options);
        if (!device.ok()) continue;  // this build, or this machine, has no such device
        const auto planned = trainer::round_memory(spec, **device);
        if (!planned.ok()) continue;
        DeviceMemory memory{.device = options.name, .least = planned->least, .most = planned->most};
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
