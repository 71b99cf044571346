// SPDX-License-Identifier: Apache-2.0
#include "verifier/replay.hpp"

#include <algorithm>
#include <cstdio>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/contradiction.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "trainer/run/state_bytes.hpp"
#include "verifier/compare.hpp"

namespace assay::verifier {

using base::ErrorKind;
using base::fail;
using base::Outcome;
using program::Fingerprint;
using trainer::JobRunner;

namespace {

/// One computation of a unit. `root` is missing when the start is not there or not the claimed one.
struct Attempt {
    std::optional<base::Hash256> root;
    std::string missing;
    std::string contradiction;  ///< what the claim says of itself that cannot be; `root` follows from it
    std::vector<Fingerprint> fingerprints;
    std::optional<trainer::SlotState> end;
    program::StateRoots end_roots;
    std::optional<trainer::Update> update;
    base::Hash256 carried_out;
};

Attempt unavailable(std::string why) {
    Attempt attempt;
    attempt.missing = std::move(why);
    return attempt;
}

/// Components of the start's root: of its arrays that are here, and what its head says of the others.
program::StateRoots start_roots(const JobRunner& runner, const UnitInput& input) {
    program::StateRoots roots = runner.state_roots(*input.start);
    if (!input.start_roots) return roots;
    if (input.start->first_moment.empty()) roots.first_moment = input.start_roots->first_moment;
    if (input.start->second_moment.empty()) roots.second_moment = input.start_roots->second_moment;
    return roots;
}

/// The whole attempt when `input.start` cannot serve as the state at `boundary`; nothing when it can.
std::optional<Attempt> without_start(const JobRunner& runner, const UnitInput& input,
                                     std::uint32_t boundary) {
    const std::string place = "boundary " + std::to_string(boundary);
    if (!input.start) return unavailable("no state was served for " + place);
    const program::StateRoots roots = start_roots(runner, input);
    if (input.start_roots && *input.start_roots != roots) {
        return unavailable("the head served for " + place + " names other roots than its arrays have");
    }
    const base::Hash256 root = program::state_root(roots);
    if (root != input.claimed.boundaries[boundary]) {
        return unavailable("the state served for " + place + " has root " + root.brief() +
                           ", the trace says " + input.claimed.boundaries[boundary].brief());
    }
    const auto needed = program::RoundPlan(runner.spec()).start(input.place.unit).arrays;
    const std::string fault = runner.misfit(*input.start, input.place.round, boundary, needed);
    if (fault.empty()) return std::nullopt;
    Attempt attempt;
    attempt.root = program::misplaced_unit_root(root);
    attempt.contradiction = "the state with the claimed root of " + place + " cannot stand there: " + fault;
    return attempt;
}

bool diverged_before(const program::TraceRecord& trace, std::uint32_t step) {
    return trace.divergence && trace.divergence->step < step;
}

/// The state that segment 0 starts from, or the attempt when there is none.
struct FirstState {
    std::optional<trainer::SlotState> state;
    Attempt instead;
};

Outcome<FirstState> first_state(const JobRunner& runner, const UnitInput& input) {
    FirstState first;
    const bool carries = input.claimed.carried && !input.claimed.carried->in.is_zero();
    if (!carries) {
        ASSAY_ASSIGN(first.state, runner.start(*input.base));
        return first;
    }
    const base::Hash256& claimed = input.claimed.carried->in;
    if (!input.carried) {
        first.instead = unavailable("no state was served for what the slot carries");
        return first;
    }
    const trainer::CarriedState carried = trainer::carried_of(*input.carried);
    if (const base::Hash256 root = runner.carried_root(carried); root != claimed) {
        first.instead = unavailable("the state served for what the slot carries has root " + root.brief() +
                                    ", the trace says " + claimed.brief());
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

Outcome<Attempt> segment_attempt(JobRunner& runner, const UnitInput& input, const trainer::Watch& watch) {
    const std::uint32_t segment = input.place.unit;
    if (diverged_before(input.claimed, program::RoundPlan(runner.spec()).steps(segment).first)) {
        Attempt repeated;
        repeated.root = program::segment_unit_root(input.claimed.boundaries[segment], {}, std::nullopt);
        return repeated;
    }
    trainer::SlotState start;
    if (segment == 0) {
        if (!input.base) return unavailable("the round's base state is missing");
        ASSAY_ASSIGN(auto first, first_state(runner, input));
        if (!first.state) return std::move(first.instead);
        start = std::move(*first.state);
    } else {
        if (auto attempt = without_start(runner, input, segment)) return std::move(*attempt);
        start = *input.start;
    }
    ASSAY_ASSIGN(auto replayed, runner.replay_segment(std::move(start), input.place, watch));
    Attempt attempt;
    attempt.root = replayed.unit_root;
    attempt.fingerprints = std::move(replayed.outcome.fingerprints);
    attempt.end = std::move(replayed.end);
    attempt.end_roots = replayed.roots;
    return attempt;
}

/// Makes the attempt one of a misnamed file when the reveal calls `what` otherwise than its file is called.
bool misnamed(const char* what, const base::Hash256& named, const base::Hash256& file, Attempt& attempt) {
    if (file == named) return false;
    attempt.root = program::misnamed_unit_root(file);
    attempt.contradiction = std::string(what) + " is the claimed one, and the reveal names blob " +
                            named.brief() + " for it; its file is blob " + file.brief();
    return true;
}

/// Compares the blobs that the reveal names with the files of what was recomputed. REQUIRES a right attempt.
void compare_names(const JobRunner& runner, const UnitInput& input, Attempt& attempt) {
    const program::JobSpec& spec = runner.spec();
    if (attempt.update && !input.update_blob.is_zero()) {
        const base::Hash256 file = base::blob_id(trainer::encode_update(*attempt.update, spec));
        if (misnamed("the update", input.update_blob, file, attempt)) return;
    }
    // Where the start was recomputed as the end of the segment before, nobody fetched it under its name.
    if (program::carries_state(spec) && !input.last_boundary_blob.is_zero()) {
        const program::StateHead head = trainer::slot_head(*input.start, runner.state_roots(*input.start),
                                                           program::strategy_of(spec).lane_arrays);
        const base::Hash256 file = base::blob_id(program::encode_state_head(head));
        (void)misnamed("the state at the last boundary", input.last_boundary_blob, file, attempt);
    }
}

Outcome<Attempt> finalise_attempt(JobRunner& runner, const UnitInput& input) {
    const program::JobSpec& spec = runner.spec();
    const program::RoundPlan plan(spec);
    Attempt attempt;
    if (diverged_before(input.claimed, spec.train.inner_steps)) {
        attempt.root = input.claimed.carried ? program::finalise_unit_root({}, {})
                                             : program::finalise_unit_root(base::Hash256());
        return attempt;
    }
    if (!input.base) return unavailable("the round's base state is missing");
    if (auto unfit = without_start(runner, input, plan.last_boundary())) return std::move(*unfit);
    ASSAY_ASSIGN(auto replayed, runner.replay_finalise(*input.base, *input.start));
    attempt.root = replayed.unit_root;
    attempt.update = std::move(replayed.update);
    attempt.carried_out = replayed.carried_out;
    const bool right = attempt.root == program::unit_root(input.claimed, spec, plan.finalise());
    if (right) compare_names(runner, input, attempt);
    return attempt;
}

Outcome<Attempt> attempt_unit(JobRunner& runner, const UnitInput& input, const trainer::Watch& watch) {
    if (program::RoundPlan(runner.spec()).is_finalise(input.place.unit))
        return finalise_attempt(runner, input);
    return segment_attempt(runner, input, watch);
}

std::string in_state(const JobRunner& runner, const trainer::SlotState& claimed,
                     const trainer::SlotState& recomputed) {
    const auto& tensors = runner.tensors();
    const std::pair<const char*, std::vector<float> trainer::SlotState::*> components[] = {
        {"parameters", &trainer::SlotState::parameters},
        {"first moment", &trainer::SlotState::first_moment},
        {"second moment", &trainer::SlotState::second_moment}};
    for (const auto& [name, member] : components) {
        const auto found = first_difference(tensors, name, claimed.*member, recomputed.*member);
        if (found) return describe(*found);
    }
    if (claimed.step != recomputed.step || claimed.cursor != recomputed.cursor) {
        return "the step count is " + std::to_string(claimed.step) + " (cursor " +
               std::to_string(claimed.cursor) + "), recomputed " + std::to_string(recomputed.step) +
               " (cursor " + std::to_string(recomputed.cursor) + ")";
    }
    return {};
}

std::string in_update(const JobRunner& runner, const trainer::Update& claimed,
                      const trainer::Update& recomputed) {
    const auto found = first_difference(runner.tensors(), "update", claimed.values, recomputed.values);
    return found ? describe(*found) : std::string();
}

std::string in_fingerprints(const UnitInput& input, const program::StepRange& range,
                            const std::vector<Fingerprint>& recomputed) {
    const auto& claimed = input.claimed.fingerprints;
    for (std::size_t i = 0; i < recomputed.size(); ++i) {
        const std::size_t step = range.first + i;
        if (step >= claimed.size())
            return "step " + std::to_string(step) + " is missing from the claimed trace";
        if (claimed[step] == recomputed[i]) continue;
        char text[160];
        std::snprintf(text, sizeof text,
                      "step %zu: claimed loss bits 0x%08x and norm bits 0x%08x, recomputed 0x%08x and 0x%08x",
                      step, claimed[step].loss, claimed[step].norm, recomputed[i].loss, recomputed[i].norm);
        return text;
    }
    return {};
}

}  // namespace

namespace {

NamedDifference in_finalise(const JobRunner& runner, const UnitInput& input, const UnitResult& recomputed) {
    const bool both = input.claimed_update && recomputed.update;
    if (both && runner.update_root(*input.claimed_update) == input.claimed.update) {
        std::string named = in_update(runner, *input.claimed_update, *recomputed.update);
        if (!named.empty()) return {std::move(named), true};
    }
    const base::Hash256 root = recomputed.update ? runner.update_root(*recomputed.update) : base::Hash256{};
    if (root == input.claimed.update && input.claimed.carried) {
        return {"carried state: claimed root " + input.claimed.carried->out.brief() + ", recomputed " +
                    recomputed.carried_out.brief(),
                true};
    }
    return {"update: claimed root " + input.claimed.update.brief() + ", recomputed " + root.brief(), false};
}

}  // namespace

NamedDifference name_difference(const JobRunner& runner, const UnitInput& input, const UnitResult& recomputed,
                                const std::vector<Fingerprint>& fingerprints) {
    const std::uint32_t unit = input.place.unit;
    if (program::RoundPlan(runner.spec()).is_finalise(unit)) return in_finalise(runner, input, recomputed);
    const base::Hash256& claimed_root = input.claimed.boundaries[unit + 1];
    if (input.claimed_end && recomputed.end && runner.state_root(*input.claimed_end) == claimed_root) {
        std::string named = in_state(runner, *input.claimed_end, *recomputed.end);
        if (!named.empty()) return {std::move(named), true};
    }
    std::string named = in_fingerprints(input, program::RoundPlan(runner.spec()).steps(unit), fingerprints);
    const base::Hash256 root =
        recomputed.end ? runner.state_root(*recomputed.end) : input.claimed.boundaries[unit];
    std::string roots = "boundary " + std::to_string(unit + 1) + ": claimed root " + claimed_root.brief() +
                        ", recomputed " + root.brief();
    // With equal roots the ends are equal: no served end says more.
    if (root == claimed_root) {
        return {named.empty() ? "the claimed divergence is not the recomputed one" : named, true};
    }
    return {named.empty() ? roots : roots + "; " + named, false};
}

Outcome<UnitResult> check_unit(JobRunner& runner, const UnitInput& input, const trainer::Watch& watch) {
    const program::JobSpec& spec = runner.spec();
    const std::uint32_t unit = input.place.unit;
    if (const program::RoundPlan plan(spec); unit >= plan.units()) {
        return fail(ErrorKind::kUsage, "unit " + std::to_string(unit) + " does not exist; the job has " +
                                           std::to_string(plan.units()) + " units per slot and round");
    }
    if (!program::is_well_formed(input.claimed, spec)) {
        return fail(ErrorKind::kUsage, "the claimed trace is not one of this job: its counts do not fit");
    }
    UnitResult result;
    result.claimed_root = program::unit_root(input.claimed, spec, unit);
    ASSAY_ASSIGN(auto first, attempt_unit(runner, input, watch));
    if (!first.root) {
        result.difference = std::move(first.missing);
        return result;
    }
    result.steps = static_cast<std::uint32_t>(first.fingerprints.size());
    if (*first.root != result.claimed_root) {
        ASSAY_ASSIGN(const auto second, attempt_unit(runner, input, watch));
        if (second.root != first.root) {
            result.verdict = UnitVerdict::kUnsound;
            result.difference =
                "this machine computed the unit twice with different results: test its memory";
            return result;
        }
    }
    result.unit_root = *first.root;
    result.end = std::move(first.end);
    result.end_roots = first.end_roots;
    result.update = std::move(first.update);
    result.carried_out = first.carried_out;
    const bool match = result.unit_root == result.claimed_root;
    result.verdict = match ? UnitVerdict::kMatch : UnitVerdict::kDiffers;
    if (match) return result;
    NamedDifference named = first.contradiction.empty()
                                ? name_difference(runner, input, result, first.fingerprints)
                                : NamedDifference{std::move(first.contradiction), true};
    result.difference = std::move(named.text);
    result.named = named.exact;
    return result;
}

}  // namespace assay::verifier
