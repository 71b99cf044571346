// SPDX-License-Identifier: Apache-2.0
// Chooses the allocation plan for the job runner: the quickest one that fits a memory budget. No bit depends
// on the choice.
#pragma once

#include <cstdint>
#include <string_view>

#include "contracts/base/error.hpp"
#include "trainer/step/allocation_plan.hpp"

namespace assay::trainer {

struct PlanLimits {
    std::uint32_t batch = 1;        ///< the most sequences of a step
    std::uint32_t micro_batch = 0;  ///< 0: chosen here
    std::uint64_t bytes = 0;        ///< the budget, for the plan and the slot's arrays; 0: no limit
    std::uint64_t reserved = 0;     ///< bytes of the budget that are kept for something else
    /// Name of the device when the budget is of its own memory; moments may then stay in the host's. Empty:
    /// the budget is of the host's memory.
    std::string_view device = {};
};

/// Parses an amount of memory into bytes: a number, then B, KiB, MiB, GiB or TiB ("2GiB", "1.5 GiB"). kUsage
/// for any other text.
base::Outcome<std::uint64_t> parse_memory(std::string_view text);

/// The same for a limit: "0" is none, and gives 0.
base::Outcome<std::uint64_t> parse_memory_limit(std::string_view text);

/// Value of ASSAY_MEMORY in bytes; 0 (no limit) when it is "0" or not set.
base::Outcome<std::uint64_t> memory_from_environment();
/// Value of ASSAY_DEVICE_MEMORY in bytes; 0 (all that the device has) when it is "0" or not set.
base::Outcome<std::uint64_t> device_memory_from_environment();

/// Bytes of the slot's own arrays: parameters and, for a step program, both moments.
std::uint64_t state_bytes(const program::Program& program);
/// Of these, the bytes that lie in the same memory as the plan's tensors.
std::uint64_t state_bytes(const program::Program& program, const PlanChoice& choice);

/// Returns the first plan that fits, in this order of preference:
/// 1. rematerialise nothing, else norms and activations, else whole layers. "Nothing" is left out when
///    rematerialising norms and activations pays in any case (PlanHints::worth_rematerialising);
/// 2. as many sequences at a time as are useful, down to one;
/// 3. keep packed weights, if the device packs them whole and `batch` has enough micro-batches to repay that;
/// 4. logits of fewer tokens at a time.
/// Moments stay with the host only when nothing else fits into a device's memory. A budget must hold the
/// smallest plan in any case, because a dispute's step by single operators takes as much. kPreflight when no
/// plan fits, naming the bytes that one sequence needs; and when the device cannot take the model, naming the
/// size that is too large (PlanHints::most_at_once, most_vocabulary).
base::Outcome<AllocationPlan> choose_plan(const program::Program& program, const Device& device,
                                          const PlanLimits& limits);

/// Fails with kPreflight when a host's budget of `bytes` (0: no limit) is too small for what such a plan
/// keeps in the host's memory on a device with its own: the slot's arrays, copies of streamed moments,
/// Device::host_bytes(), and `reserved` bytes of the caller.
base::Outcome<void> check_host_budget(const program::Program& program, const Device& device,
                                      const PlanChoice& choice, std::uint64_t bytes,
                                      std::uint64_t reserved = 0);

/// The plan that takes the least memory in addition to the state.
AllocationPlan smallest_plan(const program::Program& program, const Device& device, std::uint32_t batch);

}  // namespace assay::trainer
