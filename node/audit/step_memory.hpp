// SPDX-License-Identifier: Apache-2.0
// Gives plans the memory that a step of a job takes on each kind of device, planned as a worker plans it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/program/job_spec.hpp"

namespace assay::node {

struct DeviceMemory {
    std::string device;       ///< "cpu", or "cuda-host" for what a card takes (docs/gpu.md)
    std::uint64_t least = 0;  ///< bytes with which a step is possible
    std::uint64_t most = 0;   ///< bytes that the quickest way asks for
    /// Class of memory (decision 86) of machines that have the least for certain: the number of bits of GiB.
    unsigned memory_class = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("device", device);
        visit("least", least);
        visit("most", most);
        visit("memory_class", memory_class);
    }
};

/// Planning takes time with the square of the layers: of deeper models a worker says it (--measure).
inline constexpr std::uint32_t kMostPlannedLayers = 48;

/// Of those devices whose plans this build knows; none for a model of more layers than kMostPlannedLayers.
/// Slots' states, their trace and the tokens are beside it.
/// REQUIRES a spec that check_spec accepts.
std::vector<DeviceMemory> step_memory(const program::JobSpec& spec);

/// With which a step is possible on some of these devices; nothing where none is planned.
std::optional<std::uint64_t> least_step_bytes(const program::JobSpec& spec);

/// The lowest class whose every machine has so many bytes: class k has 2^(k−1) GiB at least.
unsigned memory_class_of(std::uint64_t bytes);

}  // namespace assay::node
