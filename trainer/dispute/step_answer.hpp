// SPDX-License-Identifier: Apache-2.0
// Gives the job runner the answers to questions about one step of a slot, and a step with a planted fault.
#pragma once

#include <functional>

#include "contracts/base/error.hpp"
#include "contracts/program/trace.hpp"
#include "trainer/dispute/recorded_step.hpp"

namespace assay::trainer {

/// A step that is about to run. What it names must live on; the arrays are worked on in place.
struct StepAtHand {
    const dispute::StepFacts& facts;
    Device& device;
    Rematerialise rematerialise = Rematerialise::kNothing;  ///< at least
    /// What it takes beside its state, in floats, is at most this, if rematerialising more can do it.
    std::uint64_t most_floats = UINT64_MAX;
    std::span<const std::uint32_t> tokens;
    const AdoptedState& state;
    StateParts::Arrays host;       ///< the arrays of `state`, as sync() left them
    std::function<void()> sync;    ///< brings `host` up to date
    program::StateRoots counters;  ///< of the state at the step's start; its arrays' roots are not looked at
    base::ByteView token_file;
};

/// Whether there is what a question about a step asks for: empty, or why not. REQUIRES a place of the job.
std::string misplaced_question(const dispute::StepFacts& facts, const dispute::Question& question);

/// The answer to any question but kSteps. Of an operator's tile it is what a claimant holds whose numbers
/// are these; question.fault is planted if it is of this step. kRejected: there is no number that is not
/// finite where kDivergence says so, or there was one before what is asked about. kUsage: no such row. Throws
/// std::bad_alloc.
base::Outcome<dispute::DisputeAnswer> answer_step(const StepAtHand& step, const dispute::Question& question);

/// Numbers of the largest output of an operator of the step.
std::uint64_t largest_output(const dispute::StepFacts& facts);

/// Runs the step with a fault; gives its fingerprint. REQUIRES a fault behind which the step still ends.
program::Fingerprint run_with_fault(const StepAtHand& step, const dispute::QuestionFault& fault);

}  // namespace assay::trainer
