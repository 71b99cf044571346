// SPDX-License-Identifier: Apache-2.0
// Gives the worker JobRunner, everything that a machine does for one job, as functions of the job's spec,
// its data and the states it is given. The same inputs give the same bits on every machine, with any
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

namespace assay::trainer {

struct RunnerOptions {
    DeviceOptions device = {};      ///< which device computes; what it names must outlive the runner
    std::uint32_t micro_batch = 0;  ///< sequences at a time; 0 chooses. Leaves the bits alone
    /// Bytes of the host that a step may take, its slot's arrays included; 0: no limit. Memory of a device's
    /// own has its own budget (DeviceOptions::memory).
    std::uint64_t memory = 0;
};

/// A finished inner step, for whoever watches.
struct StepReport {
    std::uint32_t step = 0;  ///< inner step of the round, from 0
    program::Fingerprint fingerprint;
};

/// How a long computation is watched, slowed and stopped. All may be empty. `cancel` is looked at between
/// steps.
struct Watch {
    std::function<void(const StepReport&)> progress;
    const std::atomic<bool>* cancel = nullptr;
    /// Called where the device has nothing to do, after each step and at the end of each segment: the work
    /// goes on when it returns. Whoever limits how much is computed waits here.
    std::function<void()> rest;
    void pause() const {
        if (rest) rest();
    }
    [[nodiscard]] bool cancelled() const { return cancel != nullptr && cancel->load(); }
};

/// Which segment of which slot's round.
struct SegmentPlace {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t segment = 0;
};

struct SegmentOutcome {
    std::vector<program::Fingerprint> fingerprints;  ///< of the steps that completed
    std::optional<program::Divergence> divergence;   ///< the state is then the one before that step
};

/// A segment has ended: its number, the state at its end and the trace so far. Throwing is not allowed.
struct BoundaryReport {
    std::uint32_t index = 0;  ///< 1 … segments
    const SlotState& state;
    const program::StateRoots& roots;  ///< of `state`
    const program::TraceRecord& so_far;
};

/// What run_slot_round leaves behind.
struct SlotRoundOutcome {
    program::TraceRecord trace;
    SlotState end;
    std::optional<Update> update;  ///< none when the slot diverged
};

/// Where a round is taken up again: the trace up to boundary `so_far.boundaries.size() − 1` and its state.
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
    base::Hash256 carried_out;     ///< of what is handed on; zero when nothing is
};

/// Which operator of which step of a slot's round.
struct OperatorPlace {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t step = 0;            ///< inner step of the round, from 0
    std::uint32_t operator_index = 0;  ///< in program order
};

/// What an operator left when it had run on every sequence of its step.
struct OperatorOutputs {
    /// In the order of the operator's outputs: whole tensors, row-major. Of a parameter's gradient, the sum
    /// so far.
    std::vector<std::vector<float>> tensors;
    /// The first operator, up to this one, of which a number was not finite.
    std::optional<std::uint32_t> diverged;
};

struct AcceptedUpdate {
    std::uint32_t slot = 0;
    std::uint64_t weight = 1;  ///< 1 … 2^32
    const Update* update = nullptr;
    std::uint32_t clip = arithmetic::kWholeClip;  ///< program::update_clip of it
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
    /// `train` and `held_out` are borrowed for the runner's life. kUsage when the spec breaks a rule, options
    /// are out of range or there are fewer tokens than one sequence; kPreflight when the device is not there
    /// or does not compute as the law says, or `memory` cannot hold one sequence. `held_out` may be empty:
    /// evaluate() then needs tokens.
    static base::Outcome<std::unique_ptr<JobRunner>> create(const program::JobSpec& spec, TokenView train,
                                                            TokenView held_out, const RunnerOptions& options);
    /// The same on an open device; options.device is not looked at.
    static base::Outcome<std::unique_ptr<JobRunner>> create(const program::JobSpec& spec, TokenView train,
                                                            TokenView held_out, const RunnerOptions& options,
                                                            std::unique_ptr<Device> device);
    JobRunner(const JobRunner&) = delete;
    JobRunner& operator=(const JobRunner&) = delete;
    ~JobRunner();

    [[nodiscard]] const program::JobSpec& spec() const;
    [[nodiscard]] const std::vector<program::TensorInfo>& tensors() const;
    [[nodiscard]] std::uint64_t parameter_count() const;

    /// Memory of a step, as planned: the slot's three arrays (parameters, both moments) and all that the step
    /// takes besides. Not in it: base states, updates and copies of states between steps.
    [[nodiscard]] std::uint64_t step_bytes() const;

    /// Base state of round 0: initial weights, zero outer momentum.
    [[nodiscard]] BaseState initial() const;
    /// The slot's start in the round whose base state is `base`: θ_r, and the moments that it carries or, by
    /// default, zero moments. kFailure when `base` is of another job; kUsage when `carried` is, or the job
    /// carries nothing.
    [[nodiscard]] base::Outcome<SlotState> start(const BaseState& base,
                                                 const CarriedState* carried = nullptr) const;
    // Roots. REQUIRE arrays of this job's lengths.

    /// program::carried_root.
    [[nodiscard]] base::Hash256 carried_root(const CarriedState& carried) const;
    [[nodiscard]] program::CarriedParts carried_parts(const CarriedState& carried) const;
    /// A trace with boundary 0 alone, of a slot that starts so.
    [[nodiscard]] program::TraceRecord first_trace(const SlotState& start, const CarriedState* carried) const;

    /// The components of a slot state's root; zero for an array that is not there.
    [[nodiscard]] program::StateRoots state_roots(const SlotState& state) const;
    [[nodiscard]] base::Hash256 state_root(const SlotState& state) const;
    [[nodiscard]] program::StateRoots base_roots(const BaseState& state) const;
    [[nodiscard]] base::Hash256 base_root(const BaseState& state) const;

    /// Why `state` cannot stand at `boundary` (0 … segments) of a slot in `round`, whatever its root: arrays
    /// of another model, another step count or data cursor, a number that is not finite. Empty when it can.
    /// No other arrays than `needed` are looked at.
    [[nodiscard]] std::string misfit(const SlotState& state, std::uint32_t round, std::uint32_t boundary,
                                     std::span<const program::StateArray> needed) const;
    [[nodiscard]] base::Hash256 update_root(const Update& update) const;

    /// Runs the steps of a segment on `state` in place. REQUIRES state.step to be the segment's first step
    /// and every number to be finite (kUsage otherwise). Like all that computes, it gives kPreflight when
    /// Device::check() says so, before the work or after it (of a processor: something has changed the
    /// floating-point mode of a thread): what it changed in place is then worth nothing; on a device with
    /// memory of its own `state` is as it was, or empty where the device failed while arrays came back.
    /// kInterrupted when cancelled, kFailure without memory: `state` is then that of the last whole step.
    base::Outcome<SegmentOutcome> run_segment(SlotState& state, const SegmentPlace& place,
                                              const Watch& watch);

    /// A whole slot's round, from `base` and what the slot carries, or from `resume`. `on_boundary` (may be
    /// empty) is called at the end of each segment worked here, never for boundary 0. After a divergence no
    /// further segment is reported.
    base::Outcome<SlotRoundOutcome> run_slot_round(
        const BaseState& base, std::uint32_t round, std::uint32_t slot,
        const std::optional<ResumePoint>& resume,
        const std::function<void(const BoundaryReport&)>& on_boundary, const Watch& watch,
        const CarriedState* carried = nullptr);

    /// Recomputes segment `place.unit` from the state at its start.
    base::Outcome<SegmentReplay> replay_segment(SlotState start, const ReplayPlace& place,
                                                const Watch& watch);
    /// What an operator of a step wrote, for a dispute that has come down to it. `start` is the state at the
    /// start of the step's segment; the steps before it run as in run_segment, and the step itself operator
    /// by operator, a sequence at a time. Fails as run_segment does; kRejected when a step before it
    /// diverged; kUsage for an operator that the step does not have. Frees the memory that it takes besides.
    base::Outcome<OperatorOutputs> run_to_operator(SlotState start, const OperatorPlace& place,
                                                   const Watch& watch);
    /// As run_segment, with a fault that a drill plants in one of its steps. REQUIRES a step of the segment.
    base::Outcome<SegmentOutcome> run_segment(SlotState& state, const SegmentPlace& place,
                                              const dispute::QuestionFault& fault, const Watch& watch);
    /// What a player of a dispute asks about steps of a slot. `start` is a state of the segment at or before
    /// the step that is asked about, its `step` saying which; the steps up to that one run as in
    /// run_segment, and that one operator by operator, a sequence at a time. `token_file`: the bytes of the
    /// job's training token file. Fails as run_segment does; kRejected when a step before it diverged, or a
    /// divergence is asked for that is none; kUsage for what the step does not have; kVerification for a
    /// state of another place. It takes the memory of a training step and, of the step that runs by
    /// operators, one operator's output and hashes.
    base::Outcome<dispute::DisputeAnswer> answer(SlotState start, const dispute::Question& question,
                                                 base::ByteView token_file, const Watch& watch);
    /// The same of an array: an update of `end`, whose roots are `end_roots`; what a merge of `accepted` on
    /// `base` gives, as merge() has it; the clip of the one update in `accepted`. kRejected where there is
    /// no such array, or no divergence.
    struct ArrayInputs {
        const BaseState* base = nullptr;                ///< null for a clip
        const SlotState* end = nullptr;                 ///< of an update; else null
        program::StateRoots end_roots = {};             ///< of `end`
        std::span<const AcceptedUpdate> accepted = {};  ///< of a merge or a clip
    };
    base::Outcome<dispute::DisputeAnswer> answer(const ArrayInputs& inputs,
                                                 const dispute::ArrayQuestion& question);
    /// The state before step question.at.step, with the question's fault, from such a start.
    base::Outcome<SlotState> state_before(SlotState start, const dispute::Question& question,
                                          const Watch& watch);
    /// Recomputes the unit `finalise` of a slot that did not diverge before it.
    base::Outcome<FinaliseReplay> replay_finalise(const BaseState& base, const SlotState& end);

    /// The slot's update; nothing when a number is out of range (the slot diverged).
    base::Outcome<std::optional<Update>> finalise(const BaseState& base, const SlotState& end);

    /// θ_{r+1} from θ_r and the accepted updates, in any order; none leaves all but the step count as it is.
    /// kRejected: the merged state is not finite, which is a result too (it diverged).
    base::Outcome<BaseState> merge(const BaseState& base, std::span<const AcceptedUpdate> accepted);

    /// Mean loss over the first `max_sequences` sequences of `tokens` (0: all), a function of the parameters
    /// and those tokens only. kRejected when it or a parameter is not finite.
    base::Outcome<Evaluation> evaluate(std::span<const float> parameters, TokenView tokens,
                                       std::uint64_t max_sequences, const Watch& watch);
    /// The same over those sequences of the held-out tokens given to create() that the beacon draws
    /// (program::drawn_held_out).
    base::Outcome<Evaluation> evaluate_drawn(std::span<const float> parameters, const base::Hash256& beacon,
                                             const Watch& watch);
    /// The same over the first of them.
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
