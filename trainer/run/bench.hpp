// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench train` the timings of our own steps, to print beside a peer's.
#pragma once

#include <cstdint>
#include <functional>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/devices/devices.hpp"

namespace assay::trainer {

/// A training step on pseudorandom tokens that is ready to run; each call does one whole step, AdamW
/// included; the caller measures time, so that a peer's runs can alternate with ours. The count of tokens per
/// call is batch · context. kUsage when the model breaks a rule; errors of open_device.
base::Outcome<std::function<void()>> make_step_bench(const program::ModelConfig& model, std::uint32_t batch,
                                                     program::Profile profile, const DeviceOptions& options);

}  // namespace assay::trainer
