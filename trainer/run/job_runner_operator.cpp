// SPDX-License-Identifier: Apache-2.0
// JobRunner: one operator of a step, for a dispute.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "contracts/program/round_plan.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/job_runner_impl.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::trainer {

using base::ErrorKind;

namespace {

// Sequences [first, first + count) of the operator's outputs, into their places in the whole tensors.
void collect(const Executor& executor, const program::Operator& one, std::uint64_t first, std::uint64_t count,
             OperatorOutputs& out) {
    for (std::size_t i = 0; i < one.outputs.size(); ++i) {
        const program::Tensor& tensor = executor.program().tensors[one.outputs[i]];
        const std::uint64_t begin = tensor.rows.per_sequence * first * tensor.cols;
        executor.read(one.outputs[i],
                      std::span(out.tensors[i]).subspan(begin, tensor.rows.of(count) * tensor.cols));
    }
}

}  // namespace

base::Outcome<OperatorOutputs> JobRunner::run_to_operator(SlotState start, const OperatorPlace& place,
                                                          const Watch& watch) {
    Impl& impl = *impl_;
    const program::RoundPlan plan(impl.spec);
    const auto step_program =
        program::build_step_program(impl.spec.model, impl.spec.train, impl.spec.profile);
    if (place.step >= impl.spec.train.inner_steps || place.operator_index >= step_program.operators.size()) {
        return base::fail(ErrorKind::kUsage, "step or operator is beyond the job",
                          "give a step below " + std::to_string(impl.spec.train.inner_steps) +
                              " and an operator below " + std::to_string(step_program.operators.size()));
    }
    const SegmentPlace segment{place.round, place.slot, plan.unit_of(place.step)};
    ASSAY_TRY(impl.check_start(start, segment));
    try {
        AdoptedState adopted(*impl.device, start.parameters, start.first_moment, start.second_moment,
                             impl.moments());
        if (!impl.is_finite(adopted.at())) {
            return base::fail(ErrorKind::kUsage, "the slot state has a number that is not finite",
                              "give a state of this job, round and segment");
        }
        const program::StepRange before{plan.steps(segment.segment).first, place.step};
        ASSAY_ASSIGN(const SegmentOutcome ran, impl.run_steps(start, adopted.at(), segment, before, watch));
        if (ran.divergence) {
            return base::fail(ErrorKind::kRejected,
                              "the slot diverged in step " + std::to_string(ran.divergence->step));
        }
        impl.step_.reset();  // one executor's memory at a time
        ASSAY_TRY(impl.device->check());
        impl.gather_tokens(place.round, place.slot, place.step);
        const PlanChoice choice{.micro_batch = 1, .grouping = Grouping::kSingle};
        Executor executor(step_program, *impl.device,
                          plan_allocation(step_program, *impl.device, choice, impl.spec.train.batch));
        const program::Operator& one = step_program.operators[place.operator_index];
        OperatorOutputs out;
        for (const program::TensorId id : one.outputs) {
            const program::Tensor& tensor = step_program.tensors[id];
            out.tensors.emplace_back(tensor.rows.of(impl.spec.train.batch) * tensor.cols);
        }
        out.diverged = executor.run_until(
            place.operator_index, impl.coefficients(start, place.round, place.step), impl.tokens,
            adopted.at(),
            [&](std::uint64_t first, std::uint64_t count) { collect(executor, one, first, count, out); });
        ASSAY_TRY(impl.device->check());
        return out;
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "a step, operator by operator");
    }
}

}  // namespace assay::trainer
