// SPDX-License-Identifier: Apache-2.0
// Gives the memory of the host that a slot's round takes: its steps, and what is held beside them.
#pragma once

#include <cstdint>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

/// Bytes that a slot's round holds beside its steps: the parameters that it starts from, and at its end the
/// update, as numbers and as the bytes of its file. A slot's moments are freed before that, unless the job
/// carries them over rounds; then those that it started from are held, too. Does not count files in memory
/// that a process hands to another.
std::uint64_t beside_step_bytes(const program::JobSpec& spec);

/// Bytes of a budget that a runner on `device` keeps for something else than its steps.
std::uint64_t reserved_bytes(const program::JobSpec& spec, const Device& device);

/// The budgets of JobRunner on a device without memory of its own: the smallest that it takes the job with,
/// and the smallest that leaves its steps their quickest plan.
struct RoundMemory {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};
/// Fails as choose_plan().
base::Outcome<RoundMemory> round_memory(const program::JobSpec& spec, const Device& device);

}  // namespace assay::trainer
