// SPDX-License-Identifier: Apache-2.0
// Gives the bench of disputes what a referee judges by hashes alone, and what it has to know of a step before
// it judges at all.
#pragma once

#include "node/cli/verify/shape_table.hpp"

namespace assay::node {

/// Rows: a slot's first state, the state after a step, its fingerprint, the state that a slot hands on, the
/// batch map.
void measure_ends(const program::JobSpec& spec, const program::Program& program,
                  const dispute::StepFacts& facts, const ShapeSetting& setting, ShapeTable& table);

}  // namespace assay::node
