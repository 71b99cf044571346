// SPDX-License-Identifier: Apache-2.0
// Gives every model what a step does once, after all gradients: their global norm, clipping, AdamW. The
// same for every model.
#pragma once

#include "contracts/program/models/program_builder.hpp"

namespace assay::program::models {

void add_update(ProgramBuilder& builder);

}  // namespace assay::program::models
