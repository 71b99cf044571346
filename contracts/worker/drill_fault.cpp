// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/drill_fault.hpp"

#include "contracts/program/program.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::worker {

std::string misplaced_fault(const Drill& drill, const program::JobSpec& spec) {
    const program::StepRange steps = program::RoundPlan(spec).steps(drill.segment);
    if (drill.step >= steps.last - steps.first) {
        return "a drill names step " + std::to_string(drill.step) + " of a segment that has " +
               std::to_string(steps.last - steps.first);
    }
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    if (drill.operator_index >= program.operators.size()) {
        return "a drill names operator " + std::to_string(drill.operator_index) + " of a step that has " +
               std::to_string(program.operators.size());
    }
    const program::Operator& one = program.operators[drill.operator_index];
    const program::Tensor& output = program.tensors[one.outputs[0]];
    const std::uint64_t elements = output.rows.of(spec.train.batch) * output.cols;
    if (drill.index >= elements) {
        return "a drill names element " + std::to_string(drill.index) + " of an output of " + one.name +
               " that has " + std::to_string(elements);
    }
    return {};
}

dispute::QuestionFault fault_of(const Drill& drill, const program::JobSpec& spec) {
    return {.step = program::RoundPlan(spec).steps(drill.segment).first + drill.step,
            .operator_index = drill.operator_index,
            .output = 0,
            .element = drill.index,
            .flip = 1};
}

std::optional<dispute::QuestionFault> fault_among(std::span<const Drill> drills, std::uint32_t segment,
                                                  const program::JobSpec& spec) {
    std::optional<dispute::QuestionFault> found;
    for (const Drill& drill : drills) {
        if (drill.kind != DrillKind::kOperator) continue;
        if (!found || drill.segment == segment) found = fault_of(drill, spec);
    }
    return found;
}

}  // namespace assay::worker
