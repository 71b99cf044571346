// SPDX-License-Identifier: Apache-2.0
// JobRunner: the steps of a slot's round and their recomputation.
#include <new>
#include <string>
#include <utility>

#include "contracts/arithmetic/update.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/job_runner_impl.hpp"

namespace assay::trainer {

using base::ErrorKind;

namespace {
base::Failed<base::Error> cancelled() {
    return base::fail(ErrorKind::kInterrupted, "the work was cancelled");
}

base::Failed<base::Error> unfit(const std::string& what) {
    return base::fail(ErrorKind::kUsage, what, "give a state of this job, round and segment");
}
}  // namespace

std::string JobRunner::misfit(const SlotState& state, std::uint32_t round, std::uint32_t boundary) const {
    const program::JobSpec& spec = impl_->spec;
    if (state.parameters.size() != impl_->parameters || state.first_moment.size() != impl_->parameters ||
        state.second_moment.size() != impl_->parameters) {
        return "it is of another model";
    }
    const std::uint64_t step =
        boundary < spec.segments() ? program::segment_steps(spec, boundary).first : spec.train.inner_steps;
    const std::uint64_t cursor = std::uint64_t{round} * spec.train.inner_steps + step;
    if (state.step != step || state.cursor != cursor) {
        return "it is at step " + std::to_string(state.step) + ", cursor " + std::to_string(state.cursor) +
               ", where step " + std::to_string(step) + ", cursor " + std::to_string(cursor) + " belongs";
    }
    if (!impl_->is_finite(state.parameters) || !impl_->is_finite(state.first_moment) ||
        !impl_->is_finite(state.second_moment)) {
        return "it has a number that is not finite";
    }
    return {};
}

base::Outcome<SegmentOutcome> JobRunner::run_segment(SlotState& state, const SegmentPlace& place,
                                                     const Watch& watch) {
    const program::JobSpec& spec = impl_->spec;
    if (place.round >= spec.rounds || place.slot >= spec.slots || place.segment >= spec.segments()) {
        return unfit("round, slot or segment is beyond the job");
    }
    const program::StepRange range = program::segment_steps(spec, place.segment);
    if (const std::string fault = misfit(state, place.round, place.segment); !fault.empty()) {
        return unfit("the slot state is not the start of segment " + std::to_string(place.segment) + ": " +
                     fault);
    }
    const std::uint64_t length = std::uint64_t{spec.model.context} + 1;
    SegmentOutcome outcome;
    try {
        Executor& executor = impl_->step_executor();
        for (std::uint32_t step = range.first; step < range.last; ++step) {
            if (watch.cancelled()) return cancelled();
            ASSAY_TRY(impl_->check_mode());
            impl_->tokens.clear();
            for (std::uint32_t i = 0; i < spec.train.batch; ++i) {
                const auto first = impl_->train.tokens.begin() +
                                   static_cast<std::ptrdiff_t>(
                                       impl_->batches.first_token({place.round, step, place.slot, i}));
                impl_->tokens.insert(impl_->tokens.end(), first, first + static_cast<std::ptrdiff_t>(length));
            }
            const StepResult result = executor.step(
                impl_->schedule.at(place.round, step), impl_->tokens,
                {state.parameters, state.first_moment, state.second_moment, step != range.first});
            ASSAY_TRY(impl_->check_mode());
            if (result.diverged) {
                outcome.divergence = program::Divergence{step, *result.diverged};
                return outcome;
            }
            ++state.step;
            ++state.cursor;
            outcome.fingerprints.push_back(result.fingerprint);
            if (watch.progress) watch.progress({step, result.fingerprint});
        }
    } catch (const std::bad_alloc&) {
        return base::fail(ErrorKind::kFailure, "there is not enough memory for a training step",
                          "use a smaller micro-batch or a machine with more memory");
    }
    return outcome;
}

base::Outcome<SlotRound> JobRunner::run_slot_round(
    const BaseState& base, std::uint32_t round, std::uint32_t slot, const std::optional<ResumePoint>& resume,
    const std::function<void(const BoundaryReport&)>& on_boundary, const Watch& watch) {
    const program::JobSpec& spec = impl_->spec;
    SlotRound result;
    if (resume) {
        result.trace = resume->so_far;
        result.end = resume->state;
        const std::size_t boundaries = result.trace.boundaries.size();
        if (boundaries == 0 || boundaries > spec.segments() + 1 || result.trace.divergence ||
            result.trace.boundaries.back() != state_root(result.end) ||
            result.trace.fingerprints.size() != result.end.step) {
            return unfit("the state to resume from is not the one its trace ends with");
        }
    } else {
        ASSAY_ASSIGN(result.end, start(base));
        result.trace.boundaries.push_back(state_root(result.end));
    }
    while (result.trace.boundaries.size() <= spec.segments() && !result.trace.divergence) {
        const auto segment = static_cast<std::uint32_t>(result.trace.boundaries.size() - 1);
        ASSAY_ASSIGN(SegmentOutcome outcome, run_segment(result.end, {round, slot, segment}, watch));
        result.trace.fingerprints.insert(result.trace.fingerprints.end(), outcome.fingerprints.begin(),
                                         outcome.fingerprints.end());
        result.trace.divergence = outcome.divergence;
        result.trace.boundaries.push_back(state_root(result.end));
        if (on_boundary) on_boundary({segment + 1, result.end, result.trace});
    }
    // After a divergence the later boundaries repeat the state before it.
    while (result.trace.boundaries.size() <= spec.segments()) {
        result.trace.boundaries.push_back(result.trace.boundaries.back());
    }
    if (result.trace.divergence) return result;
    ASSAY_ASSIGN(result.update, finalise(base, result.end));
    if (result.update) {
        result.trace.update = update_root(*result.update);
    } else {
        result.trace.divergence = program::Divergence{
            spec.train.inner_steps,
            static_cast<std::uint32_t>(impl_->step_executor().program().operators.size())};
    }
    return result;
}

base::Outcome<SegmentReplay> JobRunner::replay_segment(SlotState start, const ReplayPlace& place,
                                                       const Watch& watch) {
    SegmentReplay replay;
    replay.end = std::move(start);
    ASSAY_ASSIGN(replay.outcome, run_segment(replay.end, {place.round, place.slot, place.unit}, watch));
    replay.unit_root = program::segment_unit_root(state_root(replay.end), replay.outcome.fingerprints,
                                                  replay.outcome.divergence);
    return replay;
}

base::Outcome<FinaliseReplay> JobRunner::replay_finalise(const BaseState& base, const SlotState& end) {
    FinaliseReplay replay;
    ASSAY_ASSIGN(replay.update, finalise(base, end));
    const base::Hash256 root = replay.update ? update_root(*replay.update) : base::Hash256{};
    replay.unit_root = program::finalise_unit_root(root);
    return replay;
}

base::Outcome<std::optional<Update>> JobRunner::finalise(const BaseState& base, const SlotState& end) {
    if (base.parameters.size() != impl_->parameters || end.parameters.size() != impl_->parameters ||
        end.step != impl_->spec.train.inner_steps) {
        return unfit("finalise needs the base state and the end of the last segment");
    }
    ASSAY_TRY(impl_->check_mode());
    Update update;
    update.values.resize(impl_->parameters);
    const bool in_range = arithmetic::update_finalise(impl_->spec.train.sum_exponent, base.parameters,
                                                      end.parameters, update.values);
    ASSAY_TRY(impl_->check_mode());
    if (!in_range) {
        return std::optional<Update>();
    }
    return std::optional<Update>(std::move(update));
}

}  // namespace assay::trainer
