// SPDX-License-Identifier: Apache-2.0
// Gives assay-worker --bench the cases of both exact profiles.
#pragma once

#include "node/worker/program/bench.hpp"
#include "trainer/devices/devices.hpp"

namespace assay::verifier {

/// Returns products and training steps of sides f32 and i16 on `device`.
BenchCases our_cases(const trainer::DeviceOptions& device);

}  // namespace assay::verifier
