// SPDX-License-Identifier: Apache-2.0
// Gives whoever opens devices a GPU of this machine.
#pragma once

#include <cstdint>
#include <memory>

#include "contracts/base/error.hpp"
#include "trainer/cuda/card_ways.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer::cuda {

/// Card `number` of this machine, as CUDA's runtime counts them, of which plans may use `memory` bytes; 0:
/// what is free, less a sixteenth of the card. kPreflight where there is no driver, not so much memory, no
/// such card, or one older than compute capability 7.5.
base::Outcome<std::unique_ptr<Device>> open_card(int number, std::uint64_t memory, const CardWays& ways);

/// The version of CUDA's runtime in this program, 13000 for 13.0: a driver for less does not run it.
int runtime_version();

}  // namespace assay::trainer::cuda
