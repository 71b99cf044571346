// SPDX-License-Identifier: Apache-2.0
// JobRunner does everything that a machine computes for one job, as functions of the job's spec, its data and
// the states it is given. The worker uses it. The same inputs give the same bits on every machine, with any
// device, number of threads and micro-batch. One thread uses a runner at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/dispute/question.hpp"
#include "contracts/program/first_state.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/trace.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/run/state.hpp"
#include "trainer/run/token_view.hpp"
#include "trainer/step/update_numbers.hpp"

namespace assay::trainer {

struct RunnerOptions {
    DeviceOptions device = {};      ///< the computing device; what this refers to must outlive the runner
    std::uint32_t micro_batch = 0;  ///< sequences at a time; 0: chosen here. No bit depends on it
    /// Bytes of the host's memory that a slot's round may take: a step with the slot's arrays, and what is
    /// held beside it (beside_step_bytes). 0: no limit. A device's own memory has a budget of its own
    /// (DeviceOptions::memory).
    std::uint64_t memory = 0;
};

/// Reports a finished inner step.
struct StepReport {
    std::uint32_t step = 0;  ///< inner step of the round, from 0
    program::Fingerprint fingerprint;
};

/// Observes, slows down and stops a long computation. All members may be empty.
struct Watch {
    std::function<void(const StepReport&)> progress;
    const std::atomic<bool>* cancel = nullptr;  ///< read between steps; true stops the work
    /// Called while the device has nothing to do: after each step and at the end of each segment. The work
    /// goes on when it returns, so a limit on how much is computed waits here.
    std::function<void()> rest;
    /// Called before each micro-batch of an evaluation, and between the parts of a merge.
    std::function<void()> batch;
    void pause() const {
        if (rest) rest();
    }
    void begin_batch() const {
        if (batch) batch();
    }
    [[nodiscard]] bool cancelled() const { return cancel != nullptr && cancel->load(); }
};

/// Names a segment of a slot's round.
struct SegmentPlace {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t segment = 0;
};

struct SegmentOutcome {
    std::vector<program::Fingerprint> fingerprints;  ///< of the completed steps
    std::optional<program::Divergence> divergence;   ///< if set, the state is the one before that step
};

/// Reports the end of a segment: its number, the state at its end and the trace so far. The callback must not
/// throw.
struct BoundaryReport {
    std::uint32_t index = 0;  ///< 1 … segments
    const SlotState& state;
    const program::StateRoots& roots;  ///< of `state`
    const program::TraceRecord& so_far;
};

/// Result of run_slot_round.
struct SlotRoundOutcome {
    program::TraceRecord trace;
    SlotState end;
    std::optional<Update> update;  ///< none when the slot diverged
};

/// The point from which a round resumes: the trace up to boundary `so_far.boundaries.size() − 1`, and the
/// state at that boundary.
struct ResumePoint {
    program::TraceRecord so_far;
    SlotState state;
};

struct ReplayPlace {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;  ///< 0 … segments; `segments` is finalise
};

struct SegmentReplay {
    base::Hash256 unit_root;
    SegmentOutcome outcome;
    SlotState end;
    program::StateRoots roots;  ///< of `end`
};

struct FinaliseReplay {
    base::Hash256 unit_root;
    std::optional<Update> update;  ///< none when it is out of range
    base::Hash256 carried_out;     ///< root of the state that the slot carries on; zero when it carries none
};

/// Names an operator of a step of a slot's round.
struct OperatorPlace {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t step = 0;            ///< inner step of the round, from 0
    std::uint32_t operator_index = 0;  ///< in program order
};

/// Outputs of an operator after it has run on every sequence of its step.
struct OperatorOutputs {
    /// Whole tensors, row-major, in the order of the operator's outputs. A parameter's gradient is the sum so
    /// far.
    std::vector<std::vector<float>> tensors;
    /// The first operator, up to and including this one, that wrote a number that is not finite.
    std::optional<std::uint32_t> diverged;
};

struct AcceptedUpdate {
    std::uint32_t slot = 0;
    std::uint64_t weight = 1;  ///< 1 … 2^32
    const Update* update = nullptr;
    std::uint32_t clip = arithmetic::kWholeClip;  ///< program::update_clip of the update
    /// In place of `update`: the same numbers where they are not in memory.
    std::optional<UpdateNumbers> packed = std::nullopt;
};

struct Evaluation {
    program::Float32 loss;  ///< mean over `tokens` target tokens
    std::uint64_t tokens = 0;
    std::uint64_t sequences = 0;
};

struct SampleRequest {
    std::vector<std::uint32_t> prompt;  ///< at least one token, each below the vocabulary
    std::uint32_t count = 0;            ///< tokens to add
    float temperature = 1.0F;           ///< 0: the likeliest token each time
    std::uint64_t seed = 0;
};

class JobRunner {
public:
    /// `train` and `held_out` are borrowed for the runner's life. `held_out` may be empty; evaluate() works
    /// on tokens that it is given. kUsage when the spec breaks a rule, options are out of range or there are
    /// fewer tokens than one sequence; kPreflight when the device is missing or does not compute as the law
    /// says, or when `memory` cannot hold one sequence.
    static base::Outcome<std::unique_ptr<JobRunner>> create(const program::JobSpec& spec, TokenView train,
                                                            TokenView held_out, const RunnerOptions& options);
    /// The same on an open device; ignores options.device.
    static base::Outcome<std::unique_ptr<JobRunner>> create(const program::JobSpec& spec, TokenView train,
                                                            TokenView held_out, const RunnerOptions& options,
                                                            std::unique_ptr<Device> device);
    JobRunner(const JobRunner&) = delete;
    JobRunner& operator=(const JobRunner&) = delete;
    ~JobRunner();

    [[nodiscard]] const program::JobSpec& spec() const;
    [[nodiscard]] const std::vector<program::TensorInfo>& tensors() const;
    [[nodiscard]] std::uint64_t parameter_count() const;

    /// Planned bytes of a step: the slot's three arrays (parameters, both moments) and all that the step
    /// takes in addition. What a round holds beside its steps is not counted (beside_step_bytes).
    [[nodiscard]] std::uint64_t step_bytes() const;

    /// Base state of round 0: initial weights, zero outer momentum.
    [[nodiscard]] BaseState initial() const;
    /// The slot's state at the start of the round with base state `base`: θ_r, and the moments in `carried`,
    /// or zero moments without it. kFailure when `base` belongs to another job; kUsage when `carried` does,
    /// or when the job carries nothing.
    [[nodiscard]] base::Outcome<SlotState> start(const BaseState& base,
                                                 const CarriedState* carried = nullptr) const;
    // Roots. REQUIRE arrays of this job's lengths.

    /// program::carried_root.
    [[nodiscard]] base::Hash256 carried_root(const CarriedState& carried) const;
    [[nodiscard]] program::CarriedParts carried_parts(const CarriedState& carried) const;
    /// The trace of a slot that starts so; it has only boundary 0.
    [[nodiscard]] program::TraceRecord first_trace(const SlotState& start, const CarriedState* carried) const;

    /// The components of a slot state's root; zero for a missing array.
    [[nodiscard]] program::StateRoots state_roots(const SlotState& state) const;
    [[nodiscard]] base::Hash256 state_root(const SlotState& state) const;
    [[nodiscard]] program::StateRoots base_roots(const BaseState& state) const;
    [[nodiscard]] base::Hash256 base_root(const BaseState& state) const;

    /// Returns why `state` cannot stand at `boundary` (0 … segments) of a slot in `round`, whatever its root:
    /// arrays of another model, a wrong step count or data cursor, a number that is not finite. Empty when it
    /// can. Looks only at the arrays in `needed`.
    [[nodiscard]] std::string misfit(const SlotState& state, std::uint32_t round, std::uint32_t boundary,
                                     std::span<const program::StateArray> needed) const;
    [[nodiscard]] base::Hash256 update_root(const Update& update) const;

    /// Runs the steps of a segment on `state` in place. Errors:
    /// - kUsage when state.step is not the segment's first step, or a number is not finite.
    /// - kPreflight when Device::check() fails before the work or after it (on a processor: something changed
    ///   the floating-point mode of a thread), as in all functions that compute. `state` is then meaningless.
    ///   On a device with memory of its own it is as it was, or empty if the device failed while arrays were
    ///   copied back.
    /// - kInterrupted when cancelled, kFailure when memory is short: `state` is that of the last whole step.
    base::Outcome<SegmentOutcome> run_segment(SlotState& state, const SegmentPlace& place,
                                              const Watch& watch);

    /// Runs a slot's whole round, from `base` and what the slot carries, or from `resume`. Calls
    /// `on_boundary` (may be empty) at the end of each segment that it runs, never for boundary 0. A segment
    /// that diverged is the last one that it runs.
    base::Outcome<SlotRoundOutcome> run_slot_round(
        const BaseState& base, std::uint32_t round, std::uint32_t slot,
        const std::optional<ResumePoint>& resume,
        const std::function<void(const BoundaryReport&)>& on_boundary, const Watch& watch,
        const CarriedState* carried = nullptr);
    /// The same in two parts, for callers that free what finish_slot_round() does not need before it takes
    /// memory of its own. run_slot_steps() runs the steps; of `base` it needs the parameters alone.
    base::Outcome<SlotRoundOutcome> run_slot_steps(
        const BaseState& base, std::uint32_t round, std::uint32_t slot, std::optional<ResumePoint> resume,
        const std::function<void(const BoundaryReport&)>& on_boundary, const Watch& watch,
        const CarriedState* carried = nullptr);
    /// Adds the update to a round whose steps have run. Needs the parameters of `base` and of `round.end`,
    /// and its moments if the job carries them. Does nothing for a round that diverged.
    base::Outcome<void> finish_slot_round(const BaseState& base, SlotRoundOutcome& round);

    /// Recomputes segment `place.unit` from the state at its start.
    base::Outcome<SegmentReplay> replay_segment(SlotState start, const ReplayPlace& place,
                                                const Watch& watch);
    /// Returns what an operator of a step wrote, for a dispute that has narrowed down to it. `start` is the
    /// state at the start of the step's segment. The steps before it run as in run_segment, the step itself
    /// operator by operator, a sequence at a time. Frees the additional memory that this takes. Fails as
    /// run_segment does; kRejected when a step before it diverged; kUsage for an operator that the step does
    /// not have.
    base::Outcome<OperatorOutputs> run_to_operator(SlotState start, const OperatorPlace& place,
                                                   const Watch& watch);
    /// As run_segment, with a drill's fault in one of its steps. REQUIRES a fault in a step of the segment.
    base::Outcome<SegmentOutcome> run_segment(SlotState& state, const SegmentPlace& place,
                                              const dispute::QuestionFault& fault, const Watch& watch);
    /// Answers a question that a player of a dispute asks about steps of a slot. `start` is a state of the
    /// segment at or before the step in question; its `step` says which. The steps before that one run as in
    /// run_segment, and that one operator by operator, a sequence at a time. `token_file`: the bytes of the
    /// job's training token file. Takes the memory of a training step, and of one operator's output and
    /// hashes. Fails as run_segment does; kRejected when a step before it diverged, or when a question about
    /// a divergence finds none; kUsage for what the step does not have; kVerification for a state of another
    /// place.
    base::Outcome<dispute::DisputeAnswer> answer(SlotState start, const dispute::Question& question,
                                                 base::ByteView token_file, const Watch& watch);
    /// Inputs of a question about an array, which is one of: the update of `end`; the result of merge() of
    /// `accepted` on `base`; the clip of the one update in `accepted`.
    struct ArrayInputs {
        const BaseState* base = nullptr;                ///< null for a clip
        const SlotState* end = nullptr;                 ///< of an update; else null
        program::StateRoots end_roots = {};             ///< of `end`
        std::span<const AcceptedUpdate> accepted = {};  ///< of a merge or a clip
    };
    /// Answers a question about such an array. kRejected when there is no such array, or no divergence;
    /// otherwise as merge(). Of packed updates a part of each is in memory at a time.
    base::Outcome<dispute::DisputeAnswer> answer(const ArrayInputs& inputs,
                                                 const dispute::ArrayQuestion& question,
                                                 const Watch& watch = {});
    /// Returns the state before step question.at.step, with the question's fault. `start` is as for answer().
    base::Outcome<SlotState> state_before(SlotState start, const dispute::Question& question,
                                          const Watch& watch);
    /// Recomputes the unit `finalise` of a slot that did not diverge before it.
    base::Outcome<FinaliseReplay> replay_finalise(const BaseState& base, const SlotState& end);

    /// The slot's update; nothing when a number is out of range (the slot diverged).
    base::Outcome<std::optional<Update>> finalise(const BaseState& base, const SlotState& end);

    /// θ_{r+1} from θ_r and the accepted updates, in any order. Without updates only the step count changes.
    /// kRejected when the merged state is not finite; that is a result, too (it diverged). kVerification when
    /// a packed update is none any more, kInterrupted when cancelled. Takes no memory that grows with the
    /// slots but a part of each packed update (numbers_at_a_time).
    base::Outcome<BaseState> merge(BaseState base, std::span<const AcceptedUpdate> accepted,
                                   const Watch& watch = {});
    /// The functions and settings of the job's strategy.
    [[nodiscard]] const RoundLaw& law() const;

    /// Mean loss over the first `max_sequences` sequences of `tokens` (0: all). It depends only on the
    /// parameters and those tokens. kRejected when it or a parameter is not finite.
    base::Outcome<Evaluation> evaluate(std::span<const float> parameters, TokenView tokens,
                                       std::uint64_t max_sequences, const Watch& watch);
    /// The same over the sequences that the beacon draws from create()'s held-out tokens
    /// (program::drawn_held_out).
    base::Outcome<Evaluation> evaluate_drawn(std::span<const float> parameters, const base::Hash256& beacon,
                                             const Watch& watch);
    /// The same over the first sequences of create()'s held-out tokens.
    base::Outcome<Evaluation> evaluate_held_out(std::span<const float> parameters,
                                                std::uint64_t max_sequences, const Watch& watch);

    /// Tokens that the model adds to the prompt; the same on every machine for the same request.
    base::Outcome<std::vector<std::uint32_t>> sample(std::span<const float> parameters,
                                                     const SampleRequest& request);

private:
    struct Impl;
    explicit JobRunner(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::trainer
