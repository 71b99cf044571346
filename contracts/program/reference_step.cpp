// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/reference_step.hpp"

#include <algorithm>
#include <bit>

#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::program {

namespace {
void load(ReferenceMachine& machine, const Program& program, std::span<const float> flat, TensorRole role) {
    std::size_t parameter = 0;
    for (TensorId id = 0; id < program.tensors.size(); ++id) {
        if (program.tensors[id].role != role) continue;
        const TensorInfo& info = program.parameters[parameter++];
        const auto part = flat.subspan(info.offset, info.size());
        std::copy(part.begin(), part.end(), machine.values(id).begin());
    }
}

void store(ReferenceMachine& machine, const Program& program, std::vector<float>& flat, TensorRole role) {
    std::size_t parameter = 0;
    for (TensorId id = 0; id < program.tensors.size(); ++id) {
        // The two accumulators of the tied gradient follow after the canonical gradients.
        if (program.tensors[id].role != role || parameter == program.parameters.size()) continue;
        const TensorInfo& info = program.parameters[parameter++];
        const auto values = machine.values(id);
        std::copy(values.begin(), values.end(), flat.begin() + static_cast<std::ptrdiff_t>(info.offset));
    }
}

// Runs to the end or to the first operator with an output that is not finite.
std::optional<std::uint32_t> run(ReferenceMachine& machine, const Program& program,
                                 const arithmetic::AdamWCoefficients& coefficients) {
    for (std::uint32_t i = 0; i < program.operators.size(); ++i) {
        const Operator& one = program.operators[i];
        machine.execute(one, coefficients);
        for (const TensorId output : one.outputs) {
            if (!arithmetic::all_finite(machine.values(output))) return i;
        }
    }
    return std::nullopt;
}
}  // namespace

StepOutcome reference_step(const Program& program, const arithmetic::AdamWCoefficients& coefficients,
                           std::span<const std::uint32_t> tokens, SlotArrays& state) {
    ReferenceMachine machine(program, tokens);
    load(machine, program, state.parameters, TensorRole::kParameter);
    load(machine, program, state.first_moment, TensorRole::kFirstMoment);
    load(machine, program, state.second_moment, TensorRole::kSecondMoment);
    StepOutcome outcome;
    outcome.diverged = run(machine, program, coefficients);
    if (outcome.diverged) return outcome;
    outcome.fingerprint = {std::bit_cast<std::uint32_t>(machine.values(program.loss)[0]),
                           std::bit_cast<std::uint32_t>(machine.values(program.norm)[0])};
    outcome.gradient.resize(state.parameters.size());
    store(machine, program, outcome.gradient, TensorRole::kParameterGradient);
    store(machine, program, state.parameters, TensorRole::kParameter);
    store(machine, program, state.first_moment, TensorRole::kFirstMoment);
    store(machine, program, state.second_moment, TensorRole::kSecondMoment);
    return outcome;
}

std::optional<float> reference_loss(const Program& program, std::span<const std::uint32_t> tokens,
                                    std::span<const float> parameters) {
    ReferenceMachine machine(program, tokens);
    load(machine, program, parameters, TensorRole::kParameter);
    if (run(machine, program, {})) return std::nullopt;
    return machine.values(program.loss)[0];
}

}  // namespace assay::program
