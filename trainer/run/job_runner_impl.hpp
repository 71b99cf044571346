// SPDX-License-Identifier: Apache-2.0
// JobRunner::Impl: the members of a JobRunner, shared by its source files.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/schedule.hpp"
#include "trainer/dispute/step_answer.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/step/executor.hpp"

namespace assay::trainer {

/// Names the work in errors about short memory (memory_error).
inline constexpr const char* kTrainingStep = "a training step";

struct JobRunner::Impl {
    Impl(const program::JobSpec& job, TokenView train_tokens, TokenView held_out_tokens,
         const RunnerOptions& options, std::unique_ptr<Device> opened);

    /// Allocation plans within the budget; kPreflight when there are none.
    base::Outcome<void> plan();
    /// Made when first needed: a verifier that only merges never pays for a step's memory.
    Executor& step_executor();
    Executor& evaluator();

    /// How a slot's moments are adopted.
    [[nodiscard]] Adoption moments() const {
        return step_plan.choice.offload_moments ? Adoption::kStreamed : Adoption::kWhole;
    }
    /// Whether every number is finite, of an array of the host.
    [[nodiscard]] bool is_finite(std::span<const float> values);
    [[nodiscard]] bool is_finite(const DeviceState& state);
    /// Array roots of arrays of this job that lie on the device.
    [[nodiscard]] std::vector<base::Hash256> roots(std::span<const DeviceView> arrays);
    /// Components of the root of a slot's state. Its arrays lie on the device, its counters are those of
    /// `state`. An empty view stands for a missing array.
    [[nodiscard]] program::StateRoots roots_of(DeviceView parameters, DeviceView first_moment,
                                               DeviceView second_moment, const SlotState& state);
    /// What a slot carries on, from the arrays of its moments or from its state at the end of its round.
    [[nodiscard]] program::CarriedParts carried_parts(std::span<const float> first_moment,
                                                      std::span<const float> second_moment,
                                                      std::uint64_t age);
    [[nodiscard]] base::Hash256 carried_root(const SlotState& end);
    /// The work of JobRunner::finalise and merge, on arrays that it adopts.
    base::Outcome<std::optional<Update>> finalise(std::span<const float> start, std::span<const float> end);
    /// The updates of a merge; kUsage when one is not of this job.
    base::Outcome<std::vector<MergedUpdate>> merged_updates(std::span<const AcceptedUpdate> accepted) const;
    /// Merges into `next`, part by part. Returns whether all its numbers are finite.
    base::Outcome<bool> merge(std::span<const MergedUpdate> updates, BaseState& next, const Watch& watch);
    /// Evaluates over the sequences with these numbers, in this order.
    base::Outcome<Evaluation> evaluate(std::span<const float> given, TokenView from,
                                       std::span<const std::uint64_t> sequences, const Watch& watch);

    /// Returns what is wrong with a state's sizes, step or cursor at a boundary; empty when nothing is.
    [[nodiscard]] std::string misplaced(const SlotState& state, std::uint32_t round, std::uint32_t boundary,
                                        std::span<const program::StateArray> needed) const;
    /// As JobRunner::run_segment. Sets `*roots`, unless null, to those of the state at the end.
    base::Outcome<SegmentOutcome> run_segment(SlotState& state, const SegmentPlace& place, const Watch& watch,
                                              program::StateRoots* roots);
    /// Fails when a segment cannot start from this state, and says why.
    base::Outcome<void> check_start(const SlotState& state, const SegmentPlace& place);
    /// Runs steps `range` of a slot's round on adopted arrays and counts them in `state`.
    base::Outcome<SegmentOutcome> run_steps(SlotState& state, const DeviceState& arrays,
                                            const SegmentPlace& place, program::StepRange range,
                                            const Watch& watch);
    /// Fills `tokens` with those of a step.
    void gather_tokens(std::uint32_t round, std::uint32_t slot, std::uint32_t step);
    /// The coefficients of a step that starts from `state`.
    [[nodiscard]] arithmetic::AdamWCoefficients coefficients(const SlotState& state, std::uint32_t round,
                                                             std::uint32_t step) const;

    // Parts of JobRunner::answer (job_runner_answer.cpp).

    /// Fails when a question cannot be answered from this state, and says why.
    [[nodiscard]] base::Outcome<void> check_question(const SlotState& start,
                                                     const dispute::Question& question,
                                                     std::uint32_t operators) const;
    /// Runs the steps before `until`, with the question's fault. Returns false when one of them diverged.
    base::Outcome<bool> run_asked(SlotState& state, AdoptedState& adopted, const program::Program& program,
                                  const dispute::Question& question, std::uint32_t until, const Watch& watch);
    [[nodiscard]] dispute::StepFacts facts_at(const program::Program& program,
                                              const dispute::Question& question,
                                              const SlotState& state) const;
    /// The step that follows `state`. Gives the step executor's memory back.
    [[nodiscard]] StepAtHand at_hand(const dispute::StepFacts& facts, SlotState& state, AdoptedState& adopted,
                                     const dispute::Question& question, base::ByteView token_file);
    base::Outcome<dispute::DisputeAnswer> answer_steps(SlotState& state, AdoptedState& adopted,
                                                       const program::Program& program,
                                                       const dispute::Question& question, const Watch& watch);

    program::JobSpec spec;
    TokenView train;
    TokenView held_out;
    std::uint32_t micro_batch;
    std::uint64_t memory;
    std::vector<program::TensorInfo> tensors;
    std::uint64_t parameters;
    program::BatchMap batches;
    program::Schedule schedule;
    std::unique_ptr<Device> device;
    RoundLaw law;
    AllocationPlan step_plan;
    AllocationPlan evaluate_plan;
    std::optional<Executor> step_;
    std::optional<Executor> evaluator_;
    std::vector<std::uint32_t> tokens;  // of the step at hand
};

/// The next token after `logits`, drawn by `uniform` in [0, 1): by inverse of the cumulative softmax at
/// `temperature`, in binary64 on exp32 of the shifted logits; the likeliest (lowest index) at temperature 0.
std::uint32_t choose_token(std::span<const float> logits, float temperature, double uniform);

}  // namespace assay::trainer
