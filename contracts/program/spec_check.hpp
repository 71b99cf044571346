// SPDX-License-Identifier: Apache-2.0
// Gives whoever takes a JobSpec from outside the check that it must pass before anything else looks at it:
// the limits and rules of limits.hpp. Sizes are bounded so that no count, offset or number of FLOPs of a
// job overflows 64 bits.
#pragma once

#include <string>
#include <string_view>

#include "contracts/program/limits.hpp"

namespace assay::program {

/// Says whether `spec` is one that a job may have, and the first rule that it breaks. Hashes are not looked
/// at. The one judge: the ledger, `assay plan`, job files and model folders refuse by it and by nothing
/// else of a spec alone. Costs some dozens of comparisons and allocates nothing.
base::Result<void, SpecError> check_spec(const JobSpec& spec);

/// The same for a spec of which only `parts` are known: the limits of those, and the rules that need no
/// other.
base::Result<void, SpecError> check_spec(const JobSpec& spec, Parts parts);

/// The rule, as one sentence: "layers is from 1 to 1024".
std::string to_text(SpecError error);

/// The key of a job file that the error is about: "model.heads".
std::string_view key_of(SpecError error);

/// What was found: "model.layers = 0", "security.segment_steps = 1 (400 segments)". REQUIRES that
/// check_spec(spec) says `error`.
std::string found_text(SpecError error, const JobSpec& spec);

}  // namespace assay::program
