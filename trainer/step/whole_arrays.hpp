// SPDX-License-Identifier: Apache-2.0
// Whole arrays as a device is given them: what its operations on states, updates and bases take, and the
// refusals of lengths that every device makes alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/strategies/strategy.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::trainer {

/// Numbers on a device: an address that the host never follows, and how many lie there.
using DeviceArray = std::span<float>;
using DeviceView = std::span<const float>;

/// The functions of a job's strategy and the numbers that they take of the job.
struct RoundLaw {
    const program::StrategyRow& row;
    program::RoundSettings settings;
};

// Each gives kUsage, naming the array that is too short or too long.

/// Of arrays that are cut into `tensors`, at least one tensor.
base::Outcome<void> check_roots(const std::vector<program::TensorInfo>& tensors,
                                std::span<const DeviceView> arrays);
base::Outcome<void> check_update_root(const std::vector<program::TensorInfo>& tensors,
                                      std::span<const std::int64_t> update);
/// Of arrays that are as long as `update`.
base::Outcome<void> check_finalise(DeviceView start, DeviceView end, std::span<const std::int64_t> update);
/// Of at least one contribution, each and the momentum as long as `parameters`.
base::Outcome<void> check_merge(std::span<const program::Contribution> contributions, DeviceView parameters,
                                DeviceView outer_momentum);

}  // namespace assay::trainer
