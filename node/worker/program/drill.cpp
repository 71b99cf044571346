// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/drill.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "contracts/program/program.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace.hpp"
#include "contracts/worker/drill_fault.hpp"
#include "contracts/worker/drill_rows.hpp"

namespace assay::verifier {

using base::Outcome;
using trainer::JobRunner;
using trainer::SegmentOutcome;
using trainer::SegmentPlace;
using trainer::SlotState;
using worker::Drill;
using worker::DrillKind;

namespace {

/// A cheap generator (splitmix64, Steele et al. 2014): a cheat does not care where its noise comes from.
class Noise {
public:
    explicit Noise(const SegmentPlace& place)
        : state_((std::uint64_t{place.round} << 40) ^ (std::uint64_t{place.slot} << 20) ^ place.segment) {}
    /// In [−1, 1).
    float next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        z ^= z >> 31;
        return static_cast<float>(static_cast<std::int32_t>(z >> 32)) * 0x1p-31F;
    }

private:
    std::uint64_t state_;
};

/// A segment that a fault is planted in, as its work begins.
struct DrilledSegment {
    JobRunner& runner;
    const trainer::BaseState& base;
    SegmentPlace place;
    std::uint32_t slot_before;  ///< this worker's, in the round before
    SlotState& state;
    const program::TraceRecord& so_far;
    const trainer::Watch& watch;
    const Drill& drill;  ///< whose work it is
};

std::uint32_t steps_of(const DrilledSegment& stage) {
    const program::StepRange range = program::RoundPlan(stage.runner.spec()).steps(stage.place.segment);
    return range.last - range.first;
}

void count_steps(SlotState& state, std::uint32_t steps) {
    state.step += steps;
    state.cursor += steps;
    if (state.age) *state.age += steps;
}

/// The counters of a segment's end, and losses that follow the last true one: no step is computed.
SegmentOutcome make_up_losses(DrilledSegment& stage, Noise& noise) {
    const program::StepRange range = program::RoundPlan(stage.runner.spec()).steps(stage.place.segment);
    count_steps(stage.state, range.last - range.first);
    float loss = std::log(static_cast<float>(stage.runner.spec().model.vocabulary));
    if (!stage.so_far.fingerprints.empty())
        loss = std::bit_cast<float>(stage.so_far.fingerprints.back().loss);
    SegmentOutcome outcome;
    for (std::uint32_t step = range.first; step < range.last; ++step) {
        loss *= 1.0F - 1e-3F * std::fabs(noise.next());
        const float norm = 1.0F + 0.1F * noise.next();
        outcome.fingerprints.push_back(
            {std::bit_cast<std::uint32_t>(loss), std::bit_cast<std::uint32_t>(norm)});
        if (stage.watch.progress) stage.watch.progress({step, outcome.fingerprints.back()});
    }
    return outcome;
}

void make_up_moments(SlotState& state, Noise& noise) {
    for (float& moment : state.first_moment) moment = 1e-3F * noise.next();
    for (float& moment : state.second_moment) moment = 1e-6F * std::fabs(noise.next());
}

Outcome<SegmentOutcome> move_a_little(DrilledSegment& stage) {
    Noise noise(stage.place);
    const float rate = stage.runner.spec().train.learning_rate.value();
    for (float& parameter : stage.state.parameters) parameter += rate * noise.next();
    make_up_moments(stage.state, noise);
    return make_up_losses(stage, noise);
}

Outcome<SegmentOutcome> end_with_base(DrilledSegment& stage) {
    Noise noise(stage.place);
    stage.state.parameters = stage.base.parameters;
    std::fill(stage.state.first_moment.begin(), stage.state.first_moment.end(), 0.0F);
    std::fill(stage.state.second_moment.begin(), stage.state.second_moment.end(), 0.0F);
    return make_up_losses(stage, noise);
}

Outcome<SegmentOutcome> end_with_noise(DrilledSegment& stage) {
    Noise noise(stage.place);
    for (float& parameter : stage.state.parameters) parameter = 0.1F * noise.next();
    make_up_moments(stage.state, noise);
    return make_up_losses(stage, noise);
}

Outcome<SegmentOutcome> leave_out_steps(DrilledSegment& stage) {
    Noise noise(stage.place);
    return make_up_losses(stage, noise);
}

Outcome<SegmentOutcome> train_from_stale_base(DrilledSegment& stage) {
    stage.state.parameters = stage.runner.initial().parameters;
    return stage.runner.run_segment(stage.state, stage.place, stage.watch);
}

Outcome<SegmentOutcome> train_next_slot(DrilledSegment& stage) {
    SegmentPlace place = stage.place;
    place.slot = (place.slot + 1) % stage.runner.spec().slots;
    return stage.runner.run_segment(stage.state, place, stage.watch);
}

Outcome<SegmentOutcome> hand_in_round_before(DrilledSegment& stage) {
    const std::uint32_t round = stage.place.round - 1;
    trainer::BaseState base = stage.runner.initial();
    base.step = std::uint64_t{round} * stage.runner.spec().train.inner_steps;
    ASSAY_ASSIGN(SlotState then, stage.runner.start(base));
    SegmentOutcome outcome;
    for (std::uint32_t segment = 0; segment <= stage.place.segment; ++segment) {
        ASSAY_ASSIGN(outcome,
                     stage.runner.run_segment(then, {round, stage.slot_before, segment}, stage.watch));
    }
    stage.state.parameters = std::move(then.parameters);
    stage.state.first_moment = std::move(then.first_moment);
    stage.state.second_moment = std::move(then.second_moment);
    count_steps(stage.state, steps_of(stage));
    return outcome;
}

Outcome<SegmentOutcome> train_with_fault(DrilledSegment& stage) {
    const auto fault = worker::fault_of(stage.drill, stage.runner.spec());
    return stage.runner.run_segment(stage.state, stage.place, fault, stage.watch);
}

float& named_number(const JobRunner& runner, SlotState& state, const Drill& drill) {
    const auto& tensors = runner.tensors();
    const auto& tensor = *std::find_if(tensors.begin(), tensors.end(),
                                       [&](const auto& info) { return info.name == drill.tensor; });
    return state.parameters[tensor.offset + drill.index];
}

void turn_bit_over(const JobRunner& runner, SlotState& state, const Drill& drill) {
    float& number = named_number(runner, state, drill);
    number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) ^ (std::uint32_t{1} << drill.bit));
}

void move_by_one_ulp(const JobRunner& runner, SlotState& state, const Drill& drill) {
    float& number = named_number(runner, state, drill);
    number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) + 1);  // away from zero
}

void claim_another_step(SlotState& state) {
    ++state.step;
    ++state.cursor;
}

void turn_signs_over(trainer::Update& update) {
    for (std::int64_t& value : update.values) value = -value;
}

/// What a kind does; null: nothing there.
struct Effect {
    DrillKind kind;
    /// In place of the segment's steps.
    Outcome<SegmentOutcome> (*work)(DrilledSegment&) = nullptr;
    /// To the state that they ended with.
    void (*alter)(const JobRunner&, SlotState&, const Drill&) = nullptr;
    /// To the state at the boundary alone: what follows goes on from the true one.
    void (*misplace)(SlotState&) = nullptr;
    /// To the update.
    void (*hand_in)(trainer::Update&) = nullptr;
};

constexpr std::array kEffects{
    Effect{.kind = DrillKind::kLazy, .work = move_a_little},
    Effect{.kind = DrillKind::kFlip, .alter = turn_bit_over},
    Effect{.kind = DrillKind::kUlp, .alter = move_by_one_ulp},
    Effect{.kind = DrillKind::kZero, .work = end_with_base},
    Effect{.kind = DrillKind::kNoise, .work = end_with_noise},
    Effect{.kind = DrillKind::kSkip, .work = leave_out_steps},
    Effect{.kind = DrillKind::kStale, .work = train_from_stale_base},
    Effect{.kind = DrillKind::kShard, .work = train_next_slot},
    Effect{.kind = DrillKind::kReplay, .work = hand_in_round_before},
    Effect{.kind = DrillKind::kPlace, .misplace = claim_another_step},
    Effect{.kind = DrillKind::kFinalise, .hand_in = turn_signs_over},
    Effect{.kind = DrillKind::kOperator, .work = train_with_fault},
};

const Effect& effect_of(const Drill& drill) {
    return *std::find_if(kEffects.begin(), kEffects.end(),
                         [&](const Effect& effect) { return effect.kind == drill.kind; });
}

/// The drills of a segment, by what they do.
struct Planted {
    Outcome<SegmentOutcome> (*work)(DrilledSegment&) = nullptr;
    const Drill* worker = nullptr;  ///< the drill of `work`
    std::vector<const Drill*> altering;
    void (*misplace)(SlotState&) = nullptr;
};

Planted planted_in(std::uint32_t segment, const std::vector<Drill>& drills) {
    Planted planted;
    for (const Drill& drill : drills) {
        if (drill.segment != segment) continue;
        const Effect& effect = effect_of(drill);
        if (planted.work == nullptr && effect.work != nullptr) {
            planted.work = effect.work;
            planted.worker = &drill;
        }
        if (effect.alter != nullptr) planted.altering.push_back(&drill);
        if (effect.misplace != nullptr) planted.misplace = effect.misplace;
    }
    return planted;
}

/// The rest of the trace of a slot that diverged: boundaries repeat the state before it.
void repeat_boundaries(program::TraceRecord& trace, std::uint32_t last) {
    while (trace.boundaries.size() <= last) trace.boundaries.push_back(trace.boundaries.back());
}

}  // namespace

std::string drill_fault(const JobRunner& runner, const std::vector<Drill>& drills, std::uint32_t round) {
    for (const Drill& drill : drills) {
        if (std::string fault = worker::unplantable(drill.kind, round, runner.spec().slots); !fault.empty())
            return fault;
        if (drill.segment >= program::RoundPlan(runner.spec()).segments()) {
            return "a drill names segment " + std::to_string(drill.segment) + "; the job has " +
                   std::to_string(program::RoundPlan(runner.spec()).segments());
        }
        if (drill.kind == DrillKind::kOperator) {
            if (std::string fault = worker::misplaced_fault(drill, runner.spec()); !fault.empty())
                return fault;
        }
        if (worker::row_of(drill.kind).needs != worker::DrillNeeds::kTensor) continue;
        const auto& tensors = runner.tensors();
        const auto tensor = std::find_if(tensors.begin(), tensors.end(),
                                         [&](const auto& info) { return info.name == drill.tensor; });
        if (tensor == tensors.end())
            return "a drill names the tensor " + drill.tensor + ", which the model lacks";
        if (drill.index >= tensor->size()) {
            return "a drill names element " + std::to_string(drill.index) + " of " + drill.tensor +
                   ", which has " + std::to_string(tensor->size());
        }
        if (drill.bit > 31) return "a drill names bit " + std::to_string(drill.bit) + " of a binary32 number";
    }
    return {};
}

Outcome<trainer::SlotRoundOutcome> run_drilled_round(
    JobRunner& runner, const trainer::BaseState& base, std::uint32_t round, std::uint32_t slot,
    std::optional<trainer::ResumePoint> resume, const std::vector<Drill>& drills,
    const std::function<void(const trainer::BoundaryReport&)>& on_boundary, const trainer::Watch& watch,
    const trainer::CarriedState* carried, std::optional<std::uint32_t> slot_before) {
    const program::JobSpec& spec = runner.spec();
    const program::RoundPlan plan(spec);
    trainer::SlotRoundOutcome result;
    if (resume) {
        result.trace = std::move(resume->so_far);
        result.end = std::move(resume->state);
    } else {
        ASSAY_ASSIGN(result.end, runner.start(base, carried));
        result.trace = runner.first_trace(result.end, carried);
    }
    program::TraceRecord& trace = result.trace;
    for (auto segment = static_cast<std::uint32_t>(trace.boundaries.size() - 1);
         segment < plan.segments() && !trace.divergence; ++segment) {
        const SegmentPlace place{round, slot, segment};
        const Planted planted = planted_in(segment, drills);
        const auto work = [&]() -> Outcome<SegmentOutcome> {
            if (planted.work == nullptr) return runner.run_segment(result.end, place, watch);
            DrilledSegment stage{runner,     base,  place, slot_before.value_or(slot),
                                 result.end, trace, watch, *planted.worker};
            return planted.work(stage);
        };
        ASSAY_ASSIGN(SegmentOutcome outcome, work());
        for (const Drill* drill : planted.altering) effect_of(*drill).alter(runner, result.end, *drill);
        trace.fingerprints.insert(trace.fingerprints.end(), outcome.fingerprints.begin(),
                                  outcome.fingerprints.end());
        trace.divergence = outcome.divergence;
        std::optional<SlotState> misplaced;
        if (planted.misplace != nullptr) planted.misplace(misplaced.emplace(result.end));
        const SlotState& claimed = misplaced ? *misplaced : result.end;
        const program::StateRoots roots = runner.state_roots(claimed);
        trace.boundaries.push_back(program::state_root(roots));
        if (on_boundary) on_boundary({segment + 1, claimed, roots, trace});
    }
    if (trace.divergence) {
        repeat_boundaries(trace, plan.last_boundary());
        return result;
    }
    ASSAY_ASSIGN(result.update, runner.finalise(base, result.end));
    if (result.update) {
        for (const Drill& drill : drills) {
            if (effect_of(drill).hand_in != nullptr) effect_of(drill).hand_in(*result.update);
        }
        trace.update = runner.update_root(*result.update);
        if (trace.carried) trace.carried->out = runner.carried_root(trainer::carried_of(result.end));
    } else {
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        trace.divergence = {spec.train.inner_steps, static_cast<std::uint32_t>(program.operators.size())};
    }
    return result;
}

}  // namespace assay::verifier
