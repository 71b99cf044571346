// SPDX-License-Identifier: Apache-2.0
// Opens a GPU of this machine as a Device.
#pragma once

#include <cstdint>
#include <memory>

#include "contracts/base/error.hpp"
#include "trainer/cuda/card_ways.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer::cuda {

/// Opens card `number` of this machine, as CUDA's runtime counts them. Plans may use `memory` bytes of it; 0:
/// what is free, less a sixteenth of the card. Fails with kPreflight when there is no driver, no such card or
/// not so much memory, or when the card is older than compute capability 7.5.
base::Outcome<std::unique_ptr<Device>> open_card(int number, std::uint64_t memory, const CardWays& ways);

/// The version of CUDA's runtime in this program, 13000 for 13.0. A driver for an older version cannot run
/// it.
int runtime_version();

}  // namespace assay::trainer::cuda
