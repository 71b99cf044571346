// SPDX-License-Identifier: Apache-2.0
// Adds what a step does once, after all gradients: their global norm, clipping, AdamW. It is the same for
// every model.
#pragma once

#include "contracts/program/models/program_builder.hpp"

namespace assay::program::models {

void add_update(ProgramBuilder& builder);

}  // namespace assay::program::models
