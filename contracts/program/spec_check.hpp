// SPDX-License-Identifier: Apache-2.0
// The check that a JobSpec from outside must pass before anything else reads it: the limits and rules of
// limits.hpp. Sizes are bounded so that no count, offset or number of FLOPs of a job overflows 64 bits.
#pragma once

#include <string>
#include <string_view>

#include "contracts/program/limits.hpp"

namespace assay::program {

/// Checks whether a job may have `spec`; the error is the first rule that it breaks. Does not look at hashes.
/// The ledger, `assay plan`, job files and model folders judge a spec by this check only. Costs some dozens
/// of comparisons and allocates nothing.
base::Result<void, SpecError> check_spec(const JobSpec& spec);

/// The same for a spec of which only `parts` are known: checks their limits, and the rules that need no other
/// part.
base::Result<void, SpecError> check_spec(const JobSpec& spec, Parts parts);

/// The rule, as one sentence: "layers is from 1 to 1024".
std::string to_text(SpecError error);

/// The key of a job file that the error is about: "model.heads".
std::string_view key_of(SpecError error);

/// What was found: "model.layers = 0", "security.segment_steps = 1 (400 segments)". REQUIRES that
/// check_spec(spec) fails with `error`.
std::string found_text(SpecError error, const JobSpec& spec);

}  // namespace assay::program
