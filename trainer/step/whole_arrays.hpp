// SPDX-License-Identifier: Apache-2.0
// Arguments of a device's operations on whole arrays (states, updates, bases), and the checks of their
// lengths that all devices share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/strategies/strategy.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::trainer {

/// Numbers on a device: an address that the host never dereferences, and their count.
using DeviceArray = std::span<float>;
using DeviceView = std::span<const float>;

/// The functions of a job's strategy and the job's settings that they read.
struct RoundLaw {
    const program::StrategyRow& row;
    program::RoundSettings settings;
};

// Each check fails with kUsage, naming the array that is too short or too long.

/// There must be at least one tensor, and every array must be as long as all `tensors` together.
base::Outcome<void> check_roots(const std::vector<program::TensorInfo>& tensors,
                                std::span<const DeviceView> arrays);
base::Outcome<void> check_update_root(const std::vector<program::TensorInfo>& tensors,
                                      std::span<const std::int64_t> update);
/// `start` and `end` must be as long as `update`.
base::Outcome<void> check_finalise(DeviceView start, DeviceView end, std::span<const std::int64_t> update);
/// There must be at least one contribution; each of them and the momentum must be as long as `parameters`.
base::Outcome<void> check_merge(std::span<const program::Contribution> contributions, DeviceView parameters,
                                DeviceView outer_momentum);

}  // namespace assay::trainer
