// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench train` the timings of our own steps, to print beside a peer's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/devices/operator_bench.hpp"

namespace assay::trainer {

/// A training step on pseudorandom tokens that is ready to run; each call does one whole step, AdamW
/// included; the caller measures time, so that a peer's runs can alternate with ours. The count of tokens per
/// call is batch · context. kUsage when the model breaks a rule; errors of open_device.
base::Outcome<std::function<void()>> make_step_bench(const program::ModelConfig& model, std::uint32_t batch,
                                                     program::Profile profile, const DeviceOptions& options);

/// What the parts of such a step take on the device (Device::timed), after two steps that warm it up. Errors
/// as of make_step_bench, and the device's own where it fails.
base::Outcome<std::vector<WorkTime>> step_bench_parts(const program::ModelConfig& model, std::uint32_t batch,
                                                      program::Profile profile, const DeviceOptions& options);

/// Bytes that such a step takes on the device: its plan's, and those of the slot's arrays.
base::Outcome<std::uint64_t> step_bench_bytes(const program::ModelConfig& model, std::uint32_t batch,
                                              program::Profile profile, const DeviceOptions& options);

/// Roots of a slot's state of this model, or its copy to the host, ready to run
/// (trainer/devices/operator_bench.hpp). Errors as of make_step_bench.
base::Outcome<std::function<void()>> make_state_bench(const program::ModelConfig& model, StateWork work,
                                                      const DeviceOptions& options);

}  // namespace assay::trainer
