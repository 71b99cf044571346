// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/facts.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/dispute/partial_table.hpp"
#include "contracts/program/batch_map.hpp"
#include "contracts/program/schedule.hpp"

namespace assay::dispute {

namespace {
using program::Operator;
using program::StateComponent;
using program::Tensor;
using program::TensorId;
using program::TensorRole;

// Nothing: an activation or a gradient, which is +0 before it is written.
std::optional<StateComponent> component_of(TensorRole role) {
    switch (role) {
        case TensorRole::kParameter: return StateComponent::kParameters;
        case TensorRole::kFirstMoment: return StateComponent::kFirstMoment;
        case TensorRole::kSecondMoment: return StateComponent::kSecondMoment;
        default: return std::nullopt;
    }
}

// The place of a parameter or moment in the canonical order: tensors of a role stand side by side.
std::uint32_t place_of(const program::Program& program, TensorId tensor) {
    TensorId first = tensor;
    while (first > 0 && program.tensors[first - 1].role == program.tensors[tensor].role) --first;
    return tensor - first;
}

Source start_source(const StepFacts& facts, TensorId tensor) {
    Source out{.rows = facts.rows(tensor),
               .cols = facts.cols(tensor),
               .columns = {0, facts.cols(tensor)},
               .context = facts.context()};
    if (const auto component = component_of(facts.program->tensors[tensor].role)) {
        out.from = Source::From::kState;
        out.array = static_cast<std::uint32_t>(*component);
        out.number = place_of(*facts.program, tensor);
        out.is_jobs_own = facts.starts_at_base && *component == StateComponent::kParameters;
    }
    return out;
}

// The parts of `columns` that are not in `taken`.
void take(std::vector<Columns>& columns, Columns taken) {
    std::vector<Columns> rest;
    for (const Columns& one : columns) {
        if (one.first < std::min(one.last, taken.first))
            rest.push_back({one.first, std::min(one.last, taken.first)});
        if (std::max(one.first, taken.last) < one.last)
            rest.push_back({std::max(one.first, taken.last), one.last});
    }
    columns = std::move(rest);
}
}  // namespace

StepFacts facts_of(const program::JobSpec& spec, const program::Program& program, const StepPlace& place) {
    StepFacts out{.program = &program,
                  .sequences = spec.train.batch,
                  .coefficients = program::Schedule(spec).at(place.round, place.step, place.age),
                  .place = place,
                  .batch = program::BatchMap(spec),
                  .stream_tokens = spec.data.train_tokens,
                  .diverged_at = std::nullopt,
                  .starts_at_base = place.step == 0,
                  .first_output = {0}};
    for (const Operator& one : program.operators) {
        out.first_output.push_back(out.first_output.back() + static_cast<std::uint32_t>(one.outputs.size()));
    }
    return out;
}

Columns written_columns(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output) {
    const PartialRow& row = partial_row(facts.program->operators[operator_index].kind);
    if (row.columns != nullptr) return row.columns(facts.program->model);
    return {0, facts.cols(facts.output(operator_index, output))};
}

bool writes_lower_part(const StepFacts& facts, std::uint32_t operator_index) {
    return partial_row(facts.program->operators[operator_index].kind).is_square;
}

Source output_source(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output) {
    const TensorId tensor = facts.output(operator_index, output);
    return {.from = Source::From::kOutput,
            .number = facts.first_output[operator_index] + output,
            .rows = facts.rows(tensor),
            .cols = facts.cols(tensor),
            .columns = written_columns(facts, operator_index, output),
            .lower = writes_lower_part(facts, operator_index),
            .context = facts.context(),
            .may_diverge = facts.diverged_at == operator_index};
}

std::vector<Source> sources_of(const StepFacts& facts, std::uint32_t operator_index, TensorId tensor) {
    std::vector<Source> out;
    std::vector<Columns> missing = {{0, facts.cols(tensor)}};
    for (std::uint32_t i = operator_index; i-- > 0 && !missing.empty();) {
        const Operator& one = facts.program->operators[i];
        for (std::uint32_t o = 0; o < one.outputs.size(); ++o) {
            if (one.outputs[o] != tensor) continue;
            const Columns written = written_columns(facts, i, o);
            const auto is_wanted = [&](const Columns& wanted) {
                return std::max(wanted.first, written.first) < std::min(wanted.last, written.last);
            };
            if (std::none_of(missing.begin(), missing.end(), is_wanted)) continue;
            out.push_back(output_source(facts, i, o));
            take(missing, written);
        }
    }
    if (!missing.empty()) out.push_back(start_source(facts, tensor));
    return out;
}

}  // namespace assay::dispute
