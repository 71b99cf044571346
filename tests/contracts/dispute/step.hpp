// SPDX-License-Identifier: Apache-2.0
// Steps small enough to commit to every number, in shapes that leave tiles, terms and heads ragged.
#pragma once

#include <string>
#include <vector>

#include "contracts/dispute/commitments.hpp"
#include "contracts/program/job_spec.hpp"

namespace disputed {

/// A step of a job with everything that it is computed from. The program stays where it is.
struct Step {
    std::string name;
    assay::program::JobSpec spec;
    assay::program::Program program;
    assay::dispute::StepInputs inputs;
    assay::base::Hash256 state_root;
    assay::base::Hash256 data;

    Step() = default;
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
};

/// Numbers of the state before the step.
enum class Numbers { kOrdinary, kSubnormal, kNegativeZero };

struct StepVariant {
    std::string name;
    assay::program::ModelConfig model;
    assay::program::Profile profile = assay::program::Profile::kF32;
};

/// Both families and profiles, and every head: ragged, with the vocabulary or a row longer than a term.
std::vector<StepVariant> small_variants();
/// Sequences longer than a term and than a block of attention.
std::vector<StepVariant> long_variants();

/// Fills `out` with step 1 of round 0 of slot 0.
void make_step(Step& out, const StepVariant& variant, Numbers numbers = Numbers::kOrdinary);

/// The roots of its state again.
void make_roots(Step& out);

}  // namespace disputed
