// SPDX-License-Identifier: Apache-2.0
#include "verifier/replay.hpp"

#include <utility>

#include "contracts/program/contradiction.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::verifier {

using base::ErrorKind;
using base::fail;
using base::Outcome;
using trainer::JobRunner;

namespace {

UnitResult unavailable(std::string why) {
    UnitResult result;
    result.why = std::move(why);
    return result;
}

/// Components of the start's root: computed for the arrays that are here, taken from the head for the others.
program::StateRoots start_roots(const JobRunner& runner, const UnitInput& input) {
    program::StateRoots roots = runner.state_roots(*input.start);
    if (!input.start_roots) return roots;
    if (input.start->first_moment.empty()) roots.first_moment = input.start_roots->first_moment;
    if (input.start->second_moment.empty()) roots.second_moment = input.start_roots->second_moment;
    return roots;
}

/// The whole result when `input.start` cannot serve as the state at `boundary`; nothing when it can.
std::optional<UnitResult> without_start(const JobRunner& runner, const UnitInput& input,
                                        std::uint32_t boundary) {
    const std::string place = "boundary " + std::to_string(boundary);
    if (!input.start) return unavailable("no state was served for " + place);
    const program::StateRoots roots = start_roots(runner, input);
    if (input.start_roots && *input.start_roots != roots) {
        return unavailable("the head served for " + place + " names other roots than its arrays have");
    }
    const base::Hash256 root = program::state_root(roots);
    if (root != input.start_root) {
        return unavailable("the state served for " + place + " has root " + root.brief() +
                           ", its miner opened " + input.start_root.brief());
    }
    const auto needed = program::RoundPlan(runner.spec()).start(input.place.unit).arrays;
    const std::string fault = runner.misfit(*input.start, input.place.round, boundary, needed);
    if (fault.empty()) return std::nullopt;
    UnitResult result;
    result.verdict = UnitVerdict::kMisplaced;
    result.parts.unit_root = program::misplaced_unit_root(root);
    result.why = "the state with the opened root of " + place + " cannot stand there: " + fault;
    return result;
}

/// The state that segment 0 starts from, or the result when there is none.
struct FirstState {
    std::optional<trainer::SlotState> state;
    UnitResult instead;
};

Outcome<FirstState> first_state(const JobRunner& runner, const UnitInput& input) {
    FirstState first;
    if (input.carried_in.is_zero()) {
        ASSAY_ASSIGN(first.state, runner.start(*input.base));
        return first;
    }
    if (!input.carried) {
        first.instead = unavailable("no state was served for what the slot carries");
        return first;
    }
    const trainer::CarriedState carried = trainer::carried_of(*input.carried);
    if (const base::Hash256 root = runner.carried_root(carried); root != input.carried_in) {
        first.instead = unavailable("the state served for what the slot carries has root " + root.brief() +
                                    ", the ledger names " + input.carried_in.brief());
        return first;
    }
    auto started = runner.start(*input.base, &carried);
    if (started.ok()) {
        first.state = std::move(started).value();
    } else {
        first.instead = unavailable(started.error().what);
    }
    return first;
}

Outcome<UnitResult> compute_segment(JobRunner& runner, const UnitInput& input, const trainer::Watch& watch) {
    const std::uint32_t segment = input.place.unit;
    trainer::SlotState start;
    if (segment == 0) {
        if (!input.base) return unavailable("the round's base state is missing");
        ASSAY_ASSIGN(auto first, first_state(runner, input));
        if (!first.state) return std::move(first.instead);
        start = std::move(*first.state);
    } else {
        if (auto result = without_start(runner, input, segment)) return std::move(*result);
        start = *input.start;
    }
    ASSAY_ASSIGN(auto replayed, runner.replay_segment(std::move(start), input.place, watch));
    UnitResult result;
    result.verdict = UnitVerdict::kComputed;
    result.parts.unit_root = replayed.unit_root;
    result.parts.end_root = program::state_root(replayed.roots);
    result.parts.fingerprints = std::move(replayed.outcome.fingerprints);
    result.parts.divergence = replayed.outcome.divergence;
    result.end = std::move(replayed.end);
    result.end_roots = replayed.roots;
    return result;
}

Outcome<UnitResult> compute_finalise(JobRunner& runner, const UnitInput& input) {
    if (!input.base) return unavailable("the round's base state is missing");
    const std::uint32_t last = program::RoundPlan(runner.spec()).last_boundary();
    if (auto unfit = without_start(runner, input, last)) return std::move(*unfit);
    ASSAY_ASSIGN(auto replayed, runner.replay_finalise(*input.base, *input.start));
    UnitResult result;
    result.verdict = UnitVerdict::kComputed;
    result.parts.unit_root = replayed.unit_root;
    if (replayed.update) result.parts.update = runner.update_root(*replayed.update);
    result.parts.carried_out = replayed.carried_out;
    result.update = std::move(replayed.update);
    return result;
}

}  // namespace

Outcome<UnitResult> compute_unit(JobRunner& runner, const UnitInput& input, const trainer::Watch& watch) {
    const program::RoundPlan plan(runner.spec());
    if (input.place.unit >= plan.units()) {
        return fail(ErrorKind::kUsage, "unit " + std::to_string(input.place.unit) +
                                           " does not exist; the job has " + std::to_string(plan.units()) +
                                           " units per slot and round");
    }
    if (input.base && input.base_found != input.base_root) {
        return unavailable("the base state here has root " + input.base_found.brief() + ", the round's has " +
                           input.base_root.brief());
    }
    if (plan.is_finalise(input.place.unit)) return compute_finalise(runner, input);
    return compute_segment(runner, input, watch);
}

}  // namespace assay::verifier
