// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench train` our own training steps to time, for comparison with a peer's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/devices/operator_bench.hpp"

namespace assay::trainer {

/// Returns a training step on pseudorandom tokens that is ready to run. Each call does one whole step, AdamW
/// included, on batch · context tokens. The caller measures time, so that a peer's runs can alternate with
/// ours. kUsage when the model breaks a rule; errors of open_device.
base::Outcome<std::function<void()>> make_step_bench(const program::ModelConfig& model, std::uint32_t batch,
                                                     program::Profile profile, const DeviceOptions& options);

/// Times of the parts of such a step on the device (Device::timed), after two steps to warm up. Errors of
/// make_step_bench, and the device's own when it fails.
base::Outcome<std::vector<WorkTime>> step_bench_parts(const program::ModelConfig& model, std::uint32_t batch,
                                                      program::Profile profile, const DeviceOptions& options);

/// Bytes that such a step takes on the device: those of its allocation plan and of the slot's arrays.
base::Outcome<std::uint64_t> step_bench_bytes(const program::ModelConfig& model, std::uint32_t batch,
                                              program::Profile profile, const DeviceOptions& options);

/// Returns the roots of a slot's state of this model, or its copy to the host, as work that is ready to run
/// (trainer/devices/operator_bench.hpp). Errors of make_step_bench.
base::Outcome<std::function<void()>> make_state_bench(const program::ModelConfig& model, StateWork work,
                                                      const DeviceOptions& options);

}  // namespace assay::trainer
