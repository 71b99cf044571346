// SPDX-License-Identifier: Apache-2.0
// JobRunner: answers to a dispute's questions about a slot's steps.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "trainer/dispute/step_answer.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/job_runner_impl.hpp"
#include "trainer/step/device_failure.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {

using base::ErrorKind;
using dispute::DisputeAnswer;
using dispute::Question;
using dispute::QuestionKind;

namespace {
base::Failed<base::Error> unfit_question(const std::string& what) {
    return base::fail(ErrorKind::kUsage, what, "ask about a place of this job, from a state of its segment");
}

program::StateRoots counters_of(const SlotState& state) {
    program::StateRoots out;
    out.step_count = state.step;
    out.data_cursor = state.cursor;
    out.moment_age = state.age;
    return out;
}
}  // namespace

base::Outcome<void> JobRunner::Impl::check_question(const SlotState& start, const Question& question,
                                                    std::uint32_t operators) const {
    if (question.round >= spec.rounds || question.slot >= spec.slots)
        return unfit_question("no such round or slot");
    const program::RoundPlan plan(spec);
    const bool is_steps = question.kind == QuestionKind::kSteps;
    if (question.at.segment >= plan.segments() ||
        (!is_steps && (question.at.step >= spec.train.inner_steps ||
                       plan.unit_of(question.at.step) != question.at.segment))) {
        return unfit_question("no such step of a segment");
    }
    if (question.diverged_at && *question.diverged_at >= operators) return unfit_question("no such operator");
    if (question.fault &&
        (question.fault->step >= spec.train.inner_steps || question.fault->operator_index >= operators)) {
        return unfit_question("a fault beyond the job");
    }
    const program::StepRange range = plan.steps(question.at.segment);
    const std::uint32_t last = is_steps ? range.first : question.at.step;
    const bool sized = start.parameters.size() == parameters && start.first_moment.size() == parameters &&
                       start.second_moment.size() == parameters;
    if (!sized || start.age.has_value() != program::carries_state(spec)) {
        return base::fail(ErrorKind::kVerification, "the state is of another job");
    }
    if (start.step < range.first || start.step > last ||
        start.cursor != std::uint64_t{question.round} * spec.train.inner_steps + start.step) {
        return base::fail(ErrorKind::kVerification, "the state is not one of the segment before the step");
    }
    return {};
}

base::Outcome<bool> JobRunner::Impl::run_asked(SlotState& state, AdoptedState& adopted,
                                               const program::Program& program, const Question& question,
                                               std::uint32_t until, const Watch& watch) {
    const SegmentPlace place{question.round, question.slot, question.at.segment};
    while (state.step < until) {
        const auto first = static_cast<std::uint32_t>(state.step);
        const bool faulty = question.fault && question.fault->step == first;
        if (!faulty) {
            std::uint32_t last = until;
            if (question.fault && question.fault->step > first) last = std::min(last, question.fault->step);
            ASSAY_ASSIGN(const SegmentOutcome ran,
                         run_steps(state, adopted.at(), place, {first, last}, watch));
            if (ran.divergence) return false;
            continue;
        }
        if (watch.cancelled()) return base::fail(ErrorKind::kInterrupted, "the work was cancelled");
        const dispute::StepFacts facts = facts_at(program, question, state);
        run_with_fault(at_hand(facts, state, adopted, question, {}), *question.fault);
        ASSAY_TRY(device->check());
        ++state.step;
        ++state.cursor;
        if (state.age) ++*state.age;
    }
    return true;
}

dispute::StepFacts JobRunner::Impl::facts_at(const program::Program& program, const Question& question,
                                             const SlotState& state) const {
    const auto step = static_cast<std::uint32_t>(state.step);
    return dispute::facts_of(spec, program, {question.round, question.slot, step, state.age.value_or(step)});
}

StepAtHand JobRunner::Impl::at_hand(const dispute::StepFacts& facts, SlotState& state, AdoptedState& adopted,
                                    const Question& question, base::ByteView token_file) {
    step_.reset();  // one executor's memory at a time
    adopted.sync();
    gather_tokens(question.round, question.slot, static_cast<std::uint32_t>(state.step));
    const AllocationPlan least = smallest_plan(*facts.program, *device, spec.train.batch);
    return {.facts = facts,
            .device = *device,
            .rematerialise = step_plan.choice.rematerialise,
            .most_floats = std::max(step_plan.floats(), least.floats()) + largest_output(facts),
            .tokens = tokens,
            .state = adopted,
            .host = {state.parameters, state.first_moment, state.second_moment},
            .sync = [&adopted] { adopted.sync(); },
            .counters = counters_of(state),
            .token_file = token_file};
}

base::Outcome<DisputeAnswer> JobRunner::Impl::answer_steps(SlotState& state, AdoptedState& adopted,
                                                           const program::Program& program,
                                                           const Question& question, const Watch& watch) {
    const program::StepRange range = program::RoundPlan(spec).steps(question.at.segment);
    if (!dispute::is_row(range.last - range.first, question.row))
        return unfit_question("no such row of the segment");
    std::vector<base::Hash256> roots;
    bool goes_on = true;
    for (std::uint32_t step = range.first; step < range.last; ++step) {
        if (goes_on) {
            ASSAY_ASSIGN(goes_on, run_asked(state, adopted, program, question, step + 1, watch));
            const DeviceState at = adopted.at();
            // After a divergence the state stays that before it.
            roots.push_back(
                program::state_root(roots_of({at.parameters, parameters}, {at.first_moment, parameters},
                                             {at.second_moment, parameters}, state)));
        } else {
            roots.push_back(roots.back());
        }
    }
    const dispute::StoredTree tree(std::move(roots));
    const auto row = tree.row(question.row.height).subspan(question.row.first, question.row.nodes);
    return DisputeAnswer{{row.begin(), row.end()}, {}};
}

base::Outcome<DisputeAnswer> JobRunner::answer(SlotState start, const Question& question,
                                               base::ByteView token_file, const Watch& watch) {
    Impl& impl = *impl_;
    const program::JobSpec& spec = impl.spec;
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    ASSAY_TRY(impl.check_question(start, question, static_cast<std::uint32_t>(program.operators.size())));
    try {
        AdoptedState adopted(*impl.device, start.parameters, start.first_moment, start.second_moment,
                             impl.moments());
        if (!impl.is_finite(adopted.at())) return unfit_question("the state has a number that is not finite");
        if (question.kind == QuestionKind::kSteps)
            return impl.answer_steps(start, adopted, program, question, watch);
        ASSAY_ASSIGN(const bool there,
                     impl.run_asked(start, adopted, program, question, question.at.step, watch));
        if (!there) return base::fail(ErrorKind::kRejected, "a step before the one asked about diverged");
        dispute::StepFacts facts = impl.facts_at(program, question, start);
        facts.diverged_at = question.diverged_at;
        if (const std::string fault = misplaced_question(facts, question); !fault.empty())
            return unfit_question(fault);
        ASSAY_TRY(impl.device->check());
        Question asked = question;
        if (asked.fault && asked.fault->step != asked.at.step) asked.fault.reset();
        auto out = answer_step(impl.at_hand(facts, start, adopted, question, token_file), asked);
        ASSAY_TRY(impl.device->check());
        return out;
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "a step, operator by operator");
    }
}

base::Outcome<SegmentOutcome> JobRunner::run_segment(SlotState& state, const SegmentPlace& place,
                                                     const dispute::QuestionFault& fault,
                                                     const Watch& watch) {
    Impl& impl = *impl_;
    const program::JobSpec& spec = impl.spec;
    ASSAY_TRY(impl.check_start(state, place));
    const program::StepRange range = program::RoundPlan(spec).steps(place.segment);
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    Question question;
    question.round = place.round;
    question.slot = place.slot;
    question.at.segment = place.segment;
    try {
        AdoptedState adopted(*impl.device, state.parameters, state.first_moment, state.second_moment,
                             impl.moments());
        if (!impl.is_finite(adopted.at())) return unfit_question("the state has a number that is not finite");
        ASSAY_ASSIGN(SegmentOutcome ran,
                     impl.run_steps(state, adopted.at(), place, {range.first, fault.step}, watch));
        if (!ran.divergence) {
            const dispute::StepFacts facts = impl.facts_at(program, question, state);
            ran.fingerprints.push_back(
                run_with_fault(impl.at_hand(facts, state, adopted, question, {}), fault));
            ASSAY_TRY(impl.device->check());
            ++state.step;
            ++state.cursor;
            if (state.age) ++*state.age;
            ASSAY_ASSIGN(const SegmentOutcome rest,
                         impl.run_steps(state, adopted.at(), place, {fault.step + 1, range.last}, watch));
            ran.fingerprints.insert(ran.fingerprints.end(), rest.fingerprints.begin(),
                                    rest.fingerprints.end());
            ran.divergence = rest.divergence;
        }
        adopted.sync();
        return ran;
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "a step, operator by operator");
    }
}

base::Outcome<SlotState> JobRunner::state_before(SlotState start, const Question& question,
                                                 const Watch& watch) {
    Impl& impl = *impl_;
    const program::JobSpec& spec = impl.spec;
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    Question asked = question;
    asked.kind = QuestionKind::kOutputs;  // of one step
    ASSAY_TRY(impl.check_question(start, asked, static_cast<std::uint32_t>(program.operators.size())));
    try {
        AdoptedState adopted(*impl.device, start.parameters, start.first_moment, start.second_moment,
                             impl.moments());
        if (!impl.is_finite(adopted.at())) return unfit_question("the state has a number that is not finite");
        ASSAY_ASSIGN(const bool there, impl.run_asked(start, adopted, program, asked, asked.at.step, watch));
        if (!there) return base::fail(ErrorKind::kRejected, "a step before the one asked about diverged");
        adopted.sync();
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "a training step");
    }
    return start;
}

}  // namespace assay::trainer
