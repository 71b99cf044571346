// SPDX-License-Identifier: Apache-2.0
// The operators of the reference interpreter that work row by row, and the gradients that are sums over rows.
#include "contracts/arithmetic/embedding.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/rms_norm.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "contracts/arithmetic/swiglu.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::program {

namespace {
using namespace assay::arithmetic;
using Kind = OperatorKind;
}  // namespace

RopeShape ReferenceMachine::rope_shape() const {
    // Queries and keys stand side by side: one run of heads.
    return {.tokens = context_,
            .heads = model().heads + model().key_value_heads(),
            .head_dim = model().head_dim(),
            .stride = model().qkv_width()};
}

ReferenceMachine::Definitions ReferenceMachine::row_definitions() {
    static constexpr Definition kDefinitions[] = {
        {Kind::kEmbedding,
         [](Machine& m, const Operator& one) {
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 const std::span<float> x = m.part(m.out(one, 0), s);
                 if (one.operands.size() == 2) {
                     embedding_forward(m.model().width, m.inputs_of(s), m.in(one, 1), x);
                 } else {
                     embedding_forward(m.model().width, m.inputs_of(s), m.in(one, 1), m.in(one, 2), x);
                 }
             }
         }},
        {Kind::kEmbeddingGradient,
         [](Machine& m, const Operator& one) {
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 const std::span<float> dx = m.part(m.in(one, 1), s);
                 if (one.outputs.size() == 1) {
                     embedding_gradient_carry(m.model().width, m.inputs_of(s), dx, m.out(one, 0));
                 } else {
                     embedding_gradient_carry(m.model().width, m.inputs_of(s), dx, m.out(one, 0),
                                              m.out(one, 1));
                 }
             }
         }},
        {Kind::kLayerNorm,
         [](Machine& m, const Operator& one) {
             layer_norm_forward(m.in(one, 0), m.in(one, 1), m.in(one, 2), m.out(one, 0),
                                {m.out(one, 1), m.out(one, 2)});
         }},
        {Kind::kLayerNormInputGradient,
         [](Machine& m, const Operator& one) {
             layer_norm_input_gradient(m.in(one, 0), m.in(one, 1), m.in(one, 4), {m.in(one, 2), m.in(one, 3)},
                                       m.out(one, 0));
         }},
        {Kind::kLayerNormParameterGradient,
         [](Machine& m, const Operator& one) {
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 layer_norm_parameter_gradient_carry(m.part(m.in(one, 0), s), m.part(m.in(one, 1), s),
                                                     {m.part(m.in(one, 2), s), m.part(m.in(one, 3), s)},
                                                     m.out(one, 0), m.out(one, 1));
             }
         }},
        {Kind::kRmsNorm,
         [](Machine& m, const Operator& one) {
             rms_norm_forward(m.model().norm_epsilon.value(), m.in(one, 0), m.in(one, 1), m.out(one, 0),
                              m.out(one, 1));
         }},
        {Kind::kRmsNormInputGradient,
         [](Machine& m, const Operator& one) {
             rms_norm_input_gradient(m.in(one, 0), m.in(one, 1), m.in(one, 3), m.in(one, 2), m.out(one, 0));
         }},
        {Kind::kRmsNormParameterGradient,
         [](Machine& m, const Operator& one) {
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 rms_norm_parameter_gradient_carry(m.part(m.in(one, 0), s), m.part(m.in(one, 1), s),
                                                   m.part(m.in(one, 2), s), m.out(one, 0));
             }
         }},
        {Kind::kRope,
         [](Machine& m, const Operator& one) {
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 rope_forward(m.rope_shape(), m.rope_angles(), m.part(m.out(one, 0), s).data());
             }
         }},
        {Kind::kRopeGradient,
         [](Machine& m, const Operator& one) {
             for (std::uint64_t s = 0; s < m.sequences_; ++s) {
                 rope_backward(m.rope_shape(), m.rope_angles(), m.part(m.out(one, 0), s).data());
             }
         }},
        {Kind::kGelu, [](Machine& m, const Operator& one) { gelu_forward(m.in(one, 0), m.out(one, 0)); }},
        {Kind::kGeluGradient,
         [](Machine& m, const Operator& one) { gelu_backward(m.in(one, 0), m.in(one, 1), m.out(one, 0)); }},
        {Kind::kSwiGlu,
         [](Machine& m, const Operator& one) {
             swiglu_forward(m.cols(one.outputs[0]), m.in(one, 0), m.out(one, 0));
         }},
        {Kind::kSwiGluGradient,
         [](Machine& m, const Operator& one) {
             swiglu_backward(m.cols(one.operands[1]), m.in(one, 0), m.in(one, 1), m.out(one, 0));
         }},
        {Kind::kAdd, [](Machine& m, const Operator& one) { add(m.in(one, 0), m.in(one, 1), m.out(one, 0)); }},
    };
    return kDefinitions;
}

}  // namespace assay::program
