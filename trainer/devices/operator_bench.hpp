// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench` (through trainer/devices) products and roots on any device. It uses only the interface
// that jobs use: a product runs as an operator of a step, and a root is that of a slot's state.
#pragma once

#include <functional>
#include <memory>

#include "contracts/program/job_spec.hpp"
#include "trainer/step/device.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::trainer {

/// Returns a product on pseudorandom matrices as an operator of its own, with packing and the check that
/// outputs are finite. Each call does it once and waits for it. Throws std::bad_alloc.
std::function<void()> make_operator_bench(std::unique_ptr<Device> device, program::Profile profile,
                                          GemmShape shape, GemmKind kind);

/// Work on a slot's state: the roots of its three arrays, or their copy to the host.
enum class StateWork { kRoots, kCopy };

/// Returns the work on a state of the model's size that lies on the device. Each call does it once. Throws
/// std::bad_alloc.
std::function<void()> make_state_bench(std::unique_ptr<Device> device, const program::ModelConfig& model,
                                       StateWork work);

}  // namespace assay::trainer
