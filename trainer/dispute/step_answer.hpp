// SPDX-License-Identifier: Apache-2.0
// Answers a dispute's questions about one step of a slot, and runs a step with a planted fault.
#pragma once

#include <functional>

#include "contracts/base/error.hpp"
#include "contracts/program/trace.hpp"
#include "trainer/dispute/recorded_step.hpp"

namespace assay::trainer {

/// A step that is about to run. All that it refers to must outlive it; the arrays change in place.
struct StepAtHand {
    const dispute::StepFacts& facts;
    Device& device;
    Rematerialise rematerialise = Rematerialise::kNothing;  ///< the least to rematerialise
    /// Floats that it may take in addition to its state, if rematerialising more can achieve that.
    std::uint64_t most_floats = UINT64_MAX;
    std::span<const std::uint32_t> tokens;
    const AdoptedState& state;
    StateParts::Arrays host;       ///< the arrays of `state`, as sync() left them
    std::function<void()> sync;    ///< brings `host` up to date
    program::StateRoots counters;  ///< of the state at the step's start; roots of arrays in it are ignored
    base::ByteView token_file;
};

/// Returns why what a question about a step asks for does not exist; empty when it does. REQUIRES a place of
/// the job.
std::string misplaced_question(const dispute::StepFacts& facts, const dispute::Question& question);

/// Answers any question except kSteps. About an operator's tile it answers as a claimant with these numbers
/// would. It plants question.fault if that is of this step. kRejected when all numbers are finite at the
/// place of a kDivergence question, or when one before the place in question is not; kUsage when there is no
/// such row. Throws std::bad_alloc.
base::Outcome<dispute::DisputeAnswer> answer_step(const StepAtHand& step, const dispute::Question& question);

/// The count of numbers in the largest output of any operator of the step.
std::uint64_t largest_output(const dispute::StepFacts& facts);

/// Runs the step with a fault and returns its fingerprint. REQUIRES a fault that does not make the step
/// diverge.
program::Fingerprint run_with_fault(const StepAtHand& step, const dispute::QuestionFault& fault);

}  // namespace assay::trainer
