// SPDX-License-Identifier: Apache-2.0
// JobRunner: the steps of a slot's round and their recomputation.
#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/job_runner_impl.hpp"
#include "trainer/run/state_bytes.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::trainer {

using base::ErrorKind;

namespace {
constexpr const char* kNotFinite = "it has a number that is not finite";

base::Failed<base::Error> cancelled() {
    return base::fail(ErrorKind::kInterrupted, "the work was cancelled");
}

base::Failed<base::Error> unfit_state(const std::string& what) {
    return base::fail(ErrorKind::kUsage, what, "give a state of this job, round and segment");
}

base::Failed<base::Error> no_start(const SegmentPlace& place, const std::string& why) {
    return unfit_state("the slot state is not the start of segment " + std::to_string(place.segment) + ": " +
                       why);
}
}  // namespace

std::string JobRunner::Impl::misplaced(const SlotState& state, std::uint32_t round, std::uint32_t boundary,
                                       std::span<const program::StateArray> needed) const {
    const bool sized = std::all_of(needed.begin(), needed.end(), [&](program::StateArray array) {
        return array_of(state, array).size() == parameters;
    });
    if (!sized) return "it is of another model";
    const std::uint64_t step = program::RoundPlan(spec).step_at(boundary);
    if (state.age.has_value() != program::carries_state(spec)) {
        return state.age ? "it has an age of moments, which the job does not carry"
                         : "it has no age of its moments, which the job carries";
    }
    const std::uint64_t cursor = std::uint64_t{round} * spec.train.inner_steps + step;
    if (state.step == step && state.cursor == cursor) return {};
    return "it is at step " + std::to_string(state.step) + ", cursor " + std::to_string(state.cursor) +
           ", where step " + std::to_string(step) + ", cursor " + std::to_string(cursor) + " belongs";
}

std::string JobRunner::misfit(const SlotState& state, std::uint32_t round, std::uint32_t boundary,
                              std::span<const program::StateArray> needed) const {
    if (std::string fault = impl_->misplaced(state, round, boundary, needed); !fault.empty()) return fault;
    const bool finite = std::all_of(needed.begin(), needed.end(), [&](program::StateArray array) {
        return impl_->is_finite(array_of(state, array));
    });
    return finite ? std::string() : kNotFinite;
}

base::Outcome<SegmentOutcome> JobRunner::run_segment(SlotState& state, const SegmentPlace& place,
                                                     const Watch& watch) {
    return impl_->run_segment(state, place, watch, nullptr);
}

base::Outcome<SegmentOutcome> JobRunner::Impl::run_segment(SlotState& state, const SegmentPlace& place,
                                                           const Watch& watch, program::StateRoots* roots) {
    ASSAY_TRY(check_start(state, place));
    try {
        AdoptedState adopted(*device, state.parameters, state.first_moment, state.second_moment, moments());
        const DeviceState arrays = adopted.at();
        if (!is_finite(arrays)) return no_start(place, kNotFinite);
        // If arrays are copies, a failed device's arrays are not copied back, and its steps do not count.
        const bool are_copies = arrays.parameters != state.parameters.data();
        const auto counters = std::tuple(state.step, state.cursor, state.age);
        const auto check = [&]() -> base::Outcome<void> {
            auto checked = device->check();
            if (!checked.ok() && are_copies) std::tie(state.step, state.cursor, state.age) = counters;
            return checked;
        };
        auto outcome = run_steps(state, arrays, place, program::RoundPlan(spec).steps(place.segment), watch);
        ASSAY_TRY(check());
        adopted.sync();  // however the steps ended, and whatever fails after them
        if (auto synced = check(); !synced.ok()) {
            if (are_copies) state = {};  // of some arrays the start, of others the end
            return base::Failed<base::Error>{synced.error()};
        }
        if (outcome.ok() && roots != nullptr) {
            *roots = roots_of({arrays.parameters, parameters}, {arrays.first_moment, parameters},
                              {arrays.second_moment, parameters}, state);
            ASSAY_TRY(device->check());
        }
        return outcome;
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, kTrainingStep);
    }
}

base::Outcome<void> JobRunner::Impl::check_start(const SlotState& state, const SegmentPlace& place) {
    if (place.round >= spec.rounds || place.slot >= spec.slots ||
        place.segment >= program::RoundPlan(spec).segments()) {
        return unfit_state("round, slot or segment is beyond the job");
    }
    const auto all = program::strategy_of(spec).lane_arrays;
    const std::string fault = misplaced(state, place.round, place.segment, all);
    return fault.empty() ? base::Outcome<void>() : no_start(place, fault);
}

void JobRunner::Impl::gather_tokens(std::uint32_t round, std::uint32_t slot, std::uint32_t step) {
    const auto length = static_cast<std::ptrdiff_t>(spec.model.context) + 1;
    tokens.clear();
    for (std::uint32_t i = 0; i < spec.train.batch; ++i) {
        const auto first =
            train.tokens.begin() + static_cast<std::ptrdiff_t>(batches.first_token({round, step, slot, i}));
        tokens.insert(tokens.end(), first, first + length);
    }
}

arithmetic::AdamWCoefficients JobRunner::Impl::coefficients(const SlotState& state, std::uint32_t round,
                                                            std::uint32_t step) const {
    return schedule.at(round, step, state.age.value_or(step));
}

base::Outcome<SegmentOutcome> JobRunner::Impl::run_steps(SlotState& state, const DeviceState& arrays,
                                                         const SegmentPlace& place, program::StepRange range,
                                                         const Watch& watch) {
    SegmentOutcome outcome;
    for (std::uint32_t step = range.first; step < range.last; ++step) {
        if (watch.cancelled()) return cancelled();
        ASSAY_TRY(device->check());
        gather_tokens(place.round, place.slot, step);
        StepResult result;
        try {
            result = step_executor().step(coefficients(state, place.round, step), tokens, arrays);
        } catch (const std::bad_alloc& problem) {
            return memory_error(problem, kTrainingStep);
        }
        ASSAY_TRY(device->check());
        if (result.diverged) {
            outcome.divergence = program::Divergence{step, *result.diverged};
            return outcome;
        }
        ++state.step;
        ++state.cursor;
        if (state.age) ++*state.age;
        outcome.fingerprints.push_back(result.fingerprint);
        if (watch.progress) watch.progress({step, result.fingerprint});
        watch.pause();
    }
    return outcome;
}

base::Outcome<SlotRoundOutcome> JobRunner::run_slot_round(
    const BaseState& base, std::uint32_t round, std::uint32_t slot, const std::optional<ResumePoint>& resume,
    const std::function<void(const BoundaryReport&)>& on_boundary, const Watch& watch,
    const CarriedState* carried) {
    ASSAY_ASSIGN(auto result, run_slot_steps(base, round, slot, resume, on_boundary, watch, carried));
    ASSAY_TRY(finish_slot_round(base, result));
    return result;
}

base::Outcome<SlotRoundOutcome> JobRunner::run_slot_steps(
    const BaseState& base, std::uint32_t round, std::uint32_t slot, std::optional<ResumePoint> resume,
    const std::function<void(const BoundaryReport&)>& on_boundary, const Watch& watch,
    const CarriedState* carried) {
    const program::JobSpec& spec = impl_->spec;
    const std::uint32_t last = program::RoundPlan(spec).last_boundary();
    SlotRoundOutcome result;
    if (resume) {
        result.trace = std::move(resume->so_far);
        result.end = std::move(resume->state);
        const std::size_t boundaries = result.trace.boundaries.size();
        const auto all = program::strategy_of(spec).lane_arrays;
        if (boundaries == 0 || boundaries > last + std::size_t{1} || result.trace.divergence ||
            !impl_->misplaced(result.end, round, static_cast<std::uint32_t>(boundaries - 1), all).empty() ||
            result.trace.boundaries.back() != state_root(result.end) ||
            result.trace.fingerprints.size() != result.end.step ||
            result.trace.carried.has_value() != program::carries_state(spec)) {
            return unfit_state("the state to resume from is not the one its trace ends with");
        }
    } else {
        ASSAY_ASSIGN(result.end, start(base, carried));
        result.trace = first_trace(result.end, carried);
    }
    while (result.trace.boundaries.size() <= last && !result.trace.divergence) {
        const auto segment = static_cast<std::uint32_t>(result.trace.boundaries.size() - 1);
        program::StateRoots roots;
        ASSAY_ASSIGN(SegmentOutcome outcome,
                     impl_->run_segment(result.end, {round, slot, segment}, watch, &roots));
        result.trace.fingerprints.insert(result.trace.fingerprints.end(), outcome.fingerprints.begin(),
                                         outcome.fingerprints.end());
        result.trace.divergence = outcome.divergence;
        result.trace.boundaries.push_back(program::state_root(roots));
        watch.pause();  // for the roots
        if (on_boundary) on_boundary({segment + 1, result.end, roots, result.trace});
    }
    // After a divergence the later boundaries repeat the state before it.
    while (result.trace.boundaries.size() <= last) {
        result.trace.boundaries.push_back(result.trace.boundaries.back());
    }
    return result;
}

base::Outcome<void> JobRunner::finish_slot_round(const BaseState& base, SlotRoundOutcome& round) {
    if (round.trace.divergence) return {};
    ASSAY_ASSIGN(round.update, finalise(base, round.end));
    if (round.update) {
        round.trace.update = update_root(*round.update);
        if (round.trace.carried) round.trace.carried->out = impl_->carried_root(round.end);
    } else {
        round.trace.divergence = program::Divergence{
            impl_->spec.train.inner_steps,
            static_cast<std::uint32_t>(impl_->step_executor().program().operators.size())};
    }
    return {};
}

base::Outcome<SegmentReplay> JobRunner::replay_segment(SlotState start, const ReplayPlace& place,
                                                       const Watch& watch) {
    SegmentReplay replay;
    replay.end = std::move(start);
    ASSAY_ASSIGN(replay.outcome,
                 impl_->run_segment(replay.end, {place.round, place.slot, place.unit}, watch, &replay.roots));
    replay.unit_root = program::segment_unit_root(program::state_root(replay.roots),
                                                  replay.outcome.fingerprints, replay.outcome.divergence);
    return replay;
}

base::Outcome<FinaliseReplay> JobRunner::replay_finalise(const BaseState& base, const SlotState& end) {
    FinaliseReplay replay;
    ASSAY_ASSIGN(replay.update, finalise(base, end));
    const base::Hash256 root = replay.update ? update_root(*replay.update) : base::Hash256{};
    const bool carries = program::carries_state(impl_->spec);
    if (carries && replay.update) replay.carried_out = impl_->carried_root(end);
    replay.unit_root =
        carries ? program::finalise_unit_root(root, replay.carried_out) : program::finalise_unit_root(root);
    return replay;
}

base::Outcome<std::optional<Update>> JobRunner::finalise(const BaseState& base, const SlotState& end) {
    if (base.parameters.size() != impl_->parameters || end.parameters.size() != impl_->parameters ||
        end.step != impl_->spec.train.inner_steps) {
        return unfit_state("finalise needs the base state and the end of the last segment");
    }
    ASSAY_TRY(impl_->device->check());
    ASSAY_ASSIGN(auto update, impl_->finalise(base.parameters, end.parameters));
    ASSAY_TRY(impl_->device->check());
    return update;
}

base::Outcome<std::optional<Update>> JobRunner::Impl::finalise(std::span<const float> start,
                                                               std::span<const float> end) {
    try {
        const AdoptedReadOnly from(*device, start, Adoption::kStreamed);
        const AdoptedReadOnly to(*device, end, Adoption::kStreamed);
        Update update;
        update.values.resize(parameters);
        ASSAY_ASSIGN(const bool in_range, device->finalise(law, from.array(), to.array(), update.values));
        return in_range ? std::optional<Update>(std::move(update)) : std::nullopt;
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, kTrainingStep);
    }
}

}  // namespace assay::trainer
