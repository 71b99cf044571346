// SPDX-License-Identifier: Apache-2.0
// Gives plans the memory that a slot of a job takes on each kind of device, planned as a worker plans it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/program/job_spec.hpp"

namespace assay::node {

struct DeviceMemory {
    std::string device;  ///< "cpu", or "cuda-host" for what a card takes (docs/gpu.md)
    /// The fewest bytes of its memory with which a slot's round is possible: of a processor's a step and what
    /// the round holds beside it (trainer::round_memory), of a card's the step.
    std::uint64_t least = 0;
    std::uint64_t most = 0;  ///< bytes with which its steps have the quickest plan
    /// Class of memory (decision 86) whose machines all have at least `least`: the number of bits of GiB.
    unsigned memory_class = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("device", device);
        visit("least", least);
        visit("most", most);
        visit("memory_class", memory_class);
    }
};

/// The time of planning grows faster than the layers: here it is within a second. For deeper models a worker
/// tells the memory (--measure).
inline constexpr std::uint32_t kMostPlannedLayers = 256;

/// For the devices whose plans this build knows; empty for a model of more layers than kMostPlannedLayers.
/// Does not include files in memory that are handed on, the trace and the tokens.
/// REQUIRES a spec that check_spec accepts.
std::vector<DeviceMemory> step_memory(const program::JobSpec& spec);

/// The fewest bytes with which a round is possible on one of these devices; nothing when none is planned.
std::optional<std::uint64_t> least_step_bytes(const program::JobSpec& spec);

/// The lowest class in which every machine has `bytes` bytes: class k has at least 2^(k−1) GiB.
unsigned memory_class_of(std::uint64_t bytes);

}  // namespace assay::node
