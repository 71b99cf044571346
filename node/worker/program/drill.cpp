// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/drill.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "contracts/program/program.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace.hpp"

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

/// No step is computed: parameters and moments move a little, losses follow the last true one.
SegmentOutcome skip_segment(const JobRunner& runner, SlotState& state, const SegmentPlace& place,
                            const program::TraceRecord& so_far, const trainer::Watch& watch) {
    const program::StepRange range = program::RoundPlan(runner.spec()).steps(place.segment);
    Noise noise(place);
    const float rate = runner.spec().train.learning_rate.value();
    for (float& parameter : state.parameters) parameter += rate * noise.next();
    for (float& moment : state.first_moment) moment = 1e-3F * noise.next();
    for (float& moment : state.second_moment) moment = 1e-6F * std::fabs(noise.next());
    const auto steps = range.last - range.first;
    state.step += steps;
    state.cursor += steps;
    if (state.age) *state.age += steps;
    float loss = std::log(static_cast<float>(runner.spec().model.vocabulary));
    if (!so_far.fingerprints.empty()) loss = std::bit_cast<float>(so_far.fingerprints.back().loss);
    SegmentOutcome outcome;
    for (std::uint32_t step = range.first; step < range.last; ++step) {
        loss *= 1.0F - 1e-3F * std::fabs(noise.next());
        const float norm = 1.0F + 0.1F * noise.next();
        outcome.fingerprints.push_back(
            {std::bit_cast<std::uint32_t>(loss), std::bit_cast<std::uint32_t>(norm)});
        if (watch.progress) watch.progress({step, outcome.fingerprints.back()});
    }
    return outcome;
}

void alter(const JobRunner& runner, SlotState& state, const Drill& drill) {
    const auto& tensors = runner.tensors();
    const auto& tensor = *std::find_if(tensors.begin(), tensors.end(),
                                       [&](const auto& info) { return info.name == drill.tensor; });
    float& number = state.parameters[tensor.offset + drill.index];
    auto bits = std::bit_cast<std::uint32_t>(number);
    if (drill.kind == DrillKind::kFlip) {
        bits ^= std::uint32_t{1} << drill.bit;
    } else {
        bits += 1;  // the next binary32 number away from zero
    }
    number = std::bit_cast<float>(bits);
}

/// The rest of the trace of a slot that diverged: boundaries repeat the state before it.
void repeat_boundaries(program::TraceRecord& trace, std::uint32_t last) {
    while (trace.boundaries.size() <= last) trace.boundaries.push_back(trace.boundaries.back());
}

}  // namespace

std::string drill_fault(const JobRunner& runner, const std::vector<Drill>& drills) {
    for (const Drill& drill : drills) {
        if (drill.segment >= program::RoundPlan(runner.spec()).segments()) {
            return "a drill names segment " + std::to_string(drill.segment) + "; the job has " +
                   std::to_string(program::RoundPlan(runner.spec()).segments());
        }
        if (drill.kind == DrillKind::kLazy) continue;
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
    const trainer::CarriedState* carried) {
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
        const bool lazy = std::any_of(drills.begin(), drills.end(), [&](const Drill& drill) {
            return drill.kind == DrillKind::kLazy && drill.segment == segment;
        });
        SegmentOutcome outcome;
        if (lazy) {
            outcome = skip_segment(runner, result.end, place, trace, watch);
        } else {
            ASSAY_ASSIGN(outcome, runner.run_segment(result.end, place, watch));
        }
        for (const Drill& drill : drills) {
            if (drill.kind != DrillKind::kLazy && drill.segment == segment) alter(runner, result.end, drill);
        }
        trace.fingerprints.insert(trace.fingerprints.end(), outcome.fingerprints.begin(),
                                  outcome.fingerprints.end());
        trace.divergence = outcome.divergence;
        const program::StateRoots roots = runner.state_roots(result.end);
        trace.boundaries.push_back(program::state_root(roots));
        if (on_boundary) on_boundary({segment + 1, result.end, roots, trace});
    }
    if (trace.divergence) {
        repeat_boundaries(trace, plan.last_boundary());
        return result;
    }
    ASSAY_ASSIGN(result.update, runner.finalise(base, result.end));
    if (result.update) {
        trace.update = runner.update_root(*result.update);
        if (trace.carried) trace.carried->out = runner.carried_root(trainer::carried_of(result.end));
    } else {
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        trace.divergence = {spec.train.inner_steps, static_cast<std::uint32_t>(program.operators.size())};
    }
    return result;
}

}  // namespace assay::verifier
