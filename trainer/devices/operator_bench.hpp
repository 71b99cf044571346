// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench` (through trainer/devices) products and roots on any device, by nothing but what every
// device gives a job: a product is an operator of a step, a root that of a slot's state.
#pragma once

#include <functional>
#include <memory>

#include "contracts/program/job_spec.hpp"
#include "trainer/step/device.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::trainer {

/// A product on pseudorandom matrices, as an operator of its own: packing and the check that outputs are
/// finite are part of it. Each call does it once and waits for it. Throws std::bad_alloc.
std::function<void()> make_operator_bench(std::unique_ptr<Device> device, program::Profile profile,
                                          GemmShape shape, GemmKind kind);

/// Which work on a slot's state: its three arrays' roots, or their way to the host.
enum class StateWork { kRoots, kCopy };

/// The work on a state of the model's size, which lies on the device. Each call does it once. Throws
/// std::bad_alloc.
std::function<void()> make_state_bench(std::unique_ptr<Device> device, const program::ModelConfig& model,
                                       StateWork work);

}  // namespace assay::trainer
