// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/reference_machine.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::program {

ReferenceMachine::ReferenceMachine(const Program& program, std::span<const std::uint32_t> tokens)
    : ReferenceMachine(
          program, tokens,
          {.targets = tokens.size() / (program.model.context + 1U) * std::uint64_t{program.model.context}}) {}

ReferenceMachine::ReferenceMachine(const Program& program, std::span<const std::uint32_t> tokens,
                                   const StepPart& part)
    : program_(program),
      sequences_(0),
      context_(program.model.context),
      part_(part),
      loss_so_far_(part.loss_before) {
    ASSAY_CHECK(!tokens.empty() && tokens.size() % (context_ + 1) == 0);
    sequences_ = tokens.size() / (context_ + 1);
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        for (std::uint64_t t = 0; t < context_; ++t) {
            const std::uint64_t at = s * (context_ + 1) + t;
            ASSAY_CHECK(tokens[at] < program.model.vocabulary && tokens[at + 1] < program.model.vocabulary);
            inputs_.push_back(tokens[at]);
            targets_.push_back(tokens[at + 1]);
        }
    }
    for (const Tensor& tensor : program.tensors) {
        const std::uint64_t size =
            tensor.role == TensorRole::kTokens ? 0 : tensor.rows.of(sequences_) * tensor.cols;
        tensors_.emplace_back(size, 0.0F);
    }
    if (program.model.has_rotary_positions()) {
        const std::uint64_t angles = context_ * (program.model.head_dim() / 2);
        rope_cos_.resize(angles);
        rope_sin_.resize(angles);
        arithmetic::rope_table(context_, program.model.head_dim(),
                               static_cast<double>(program.model.rope_theta.value()), rope_cos_, rope_sin_);
    }
}

std::span<float> ReferenceMachine::part(std::span<float> values, std::uint64_t sequence) const {
    const std::size_t size = values.size() / sequences_;
    return values.subspan(sequence * size, size);
}

std::span<const std::uint32_t> ReferenceMachine::inputs_of(std::uint64_t sequence) const {
    return std::span(inputs_).subspan(sequence * context_, context_);
}

const ReferenceMachine::Definition* ReferenceMachine::find(Definitions definitions, OperatorKind kind) {
    const auto found = std::find_if(definitions.begin(), definitions.end(),
                                    [kind](const Definition& one) { return one.kind == kind; });
    return found == definitions.end() ? nullptr : &*found;
}

void ReferenceMachine::execute(const Operator& one, const arithmetic::AdamWCoefficients& coefficients) {
    coefficients_ = coefficients;
    for (const Definitions definitions : {row_definitions(), product_definitions(), attention_definitions(),
                                          loss_definitions(), update_definitions()}) {
        if (const Definition* const definition = find(definitions, one.kind)) {
            return definition->run(*this, one);
        }
    }
    ASSAY_CHECK(false);
}

std::size_t ReferenceMachine::definitions_of(OperatorKind kind) {
    std::size_t count = 0;
    for (const Definitions definitions : {row_definitions(), product_definitions(), attention_definitions(),
                                          loss_definitions(), update_definitions()}) {
        count += static_cast<std::size_t>(
            std::count_if(definitions.begin(), definitions.end(),
                          [kind](const Definition& one) { return one.kind == kind; }));
    }
    return count;
}

}  // namespace assay::program
