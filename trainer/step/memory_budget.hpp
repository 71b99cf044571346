// SPDX-License-Identifier: Apache-2.0
// Gives the job runner the choice of an allocation plan: the quickest that fits a budget. Bits depend on
// none of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "contracts/base/error.hpp"
#include "trainer/step/allocation_plan.hpp"

namespace assay::trainer {

struct PlanLimits {
    std::uint32_t batch = 1;        ///< the most sequences of a step
    std::uint32_t micro_batch = 0;  ///< 0: chosen here
    std::uint64_t bytes = 0;        ///< for the plan and the slot's arrays; 0: as much as speed asks for
    std::uint64_t reserved = 0;     ///< bytes of the budget that something else will take
    /// The device whose own memory the budget is: moments may then stay with the host. Empty: it is the
    /// host's.
    std::string_view device = {};
};

/// Bytes that a text names: a number, then B, KiB, MiB, GiB or TiB ("2GiB", "1.5 GiB"); kUsage otherwise.
base::Outcome<std::uint64_t> parse_memory(std::string_view text);

/// Value of ASSAY_MEMORY; 0, no limit, when it is not set.
base::Outcome<std::uint64_t> memory_from_environment();
/// Value of ASSAY_DEVICE_MEMORY; 0, what the device has, when it is not set.
base::Outcome<std::uint64_t> device_memory_from_environment();

/// Bytes of the slot's own arrays: parameters and, for a step program, both moments.
std::uint64_t state_bytes(const program::Program& program);
/// Those of them that lie where the plan's tensors do.
std::uint64_t state_bytes(const program::Program& program, const PlanChoice& choice);

/// The first plan that fits, in this order: nothing rematerialised before norms and activations (left out
/// where rematerialising those saves 64 MiB, for 1 to 2 % of a step), those before whole layers; then as many
/// sequences at a time as are of use, down to one; then packed weights kept, where the device packs them
/// whole and `batch` has micro-batches enough to repay them; then logits of fewer tokens. Moments stay with
/// the host only where nothing else fits into a device's memory. A budget always holds the smallest plan,
/// too: a dispute's step by single operators takes as much. kPreflight, naming the bytes that one sequence
/// needs, when none fits, and naming the size of the model that the device cannot take
/// (PlanHints::most_at_once, most_vocabulary).
base::Outcome<AllocationPlan> choose_plan(const program::Program& program, const Device& device,
                                          const PlanLimits& limits);

/// Whether the host's budget (0: no limit) holds what such a plan leaves to the host on a device with memory
/// of its own: the slot's arrays, copies of streamed moments, and what the device takes. kPreflight.
base::Outcome<void> check_host_budget(const program::Program& program, const Device& device,
                                      const PlanChoice& choice, std::uint64_t bytes);

/// The plan that takes the least memory beside the state.
AllocationPlan smallest_plan(const program::Program& program, const Device& device, std::uint32_t batch);

}  // namespace assay::trainer
