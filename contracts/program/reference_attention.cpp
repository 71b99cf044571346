// SPDX-License-Identifier: Apache-2.0
// The attention operators of the reference interpreter, a query head of a sequence at a time.
#include "contracts/arithmetic/exact_attention.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::program {

namespace {
using namespace assay::arithmetic;
using Kind = OperatorKind;
}  // namespace

ReferenceMachine::HeadPlace ReferenceMachine::head_place(std::uint64_t sequence, std::uint64_t head) const {
    const std::uint64_t dim = model().head_dim();
    const std::uint64_t sharing = model().heads / model().key_value_heads();
    const std::uint64_t group = head / sharing;
    return {.sequence = sequence,
            .head = head,
            .query = head * dim,
            .key = (model().heads + group) * dim,
            .value = (model().heads + model().key_value_heads() + group) * dim,
            .start = head % sharing == 0 ? ChainStart::kZero : ChainStart::kCarry};
}

template <class Work>
void ReferenceMachine::each_head(const Work& work) const {
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        for (std::uint64_t h = 0; h < model().heads; ++h) work(head_place(s, h));
    }
}

std::span<float> ReferenceMachine::head_part(std::span<float> values, const HeadPlace& at) const {
    const std::size_t size = values.size() / (sequences_ * model().heads);
    return values.subspan((at.sequence * model().heads + at.head) * size, size);
}

HeadView ReferenceMachine::view(TensorId id, const HeadPlace& at, std::uint64_t column) {
    return {part(values(id), at.sequence).data() + column, cols(id)};
}

HeadOut ReferenceMachine::target(TensorId id, const HeadPlace& at, std::uint64_t column) {
    return {part(values(id), at.sequence).data() + column, cols(id)};
}

ReferenceMachine::Definitions ReferenceMachine::attention_definitions() {
    static constexpr Definition kDefinitions[] = {
        {Kind::kAttentionScores,
         [](Machine& m, const Operator& one) {
             const auto scores = m.exact() ? exact::attention_scores : attention_scores;
             m.each_head([&](const HeadPlace& at) {
                 scores(m.head_shape(), m.view(one.operands[0], at, at.query),
                        m.view(one.operands[0], at, at.key), m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kSoftmaxMax,
         [](Machine& m, const Operator& one) {
             m.each_head([&](const HeadPlace& at) {
                 softmax_max(m.context_, m.head_part(m.in(one, 0), at), m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kSoftmaxExp,
         [](Machine& m, const Operator& one) {
             m.each_head([&](const HeadPlace& at) {
                 softmax_exp(m.context_, m.head_part(m.in(one, 0), at), m.head_part(m.in(one, 1), at),
                             m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kSoftmaxSum,
         [](Machine& m, const Operator& one) {
             m.each_head([&](const HeadPlace& at) {
                 softmax_sum(m.context_, m.head_part(m.in(one, 0), at), m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kSoftmaxDivide,
         [](Machine& m, const Operator& one) {
             m.each_head([&](const HeadPlace& at) {
                 softmax_divide(m.context_, m.head_part(m.in(one, 0), at), m.head_part(m.in(one, 1), at),
                                m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kAttentionValues,
         [](Machine& m, const Operator& one) {
             const auto sums = m.exact() ? exact::attention_values : attention_values;
             m.each_head([&](const HeadPlace& at) {
                 sums(m.head_shape(), m.head_part(m.in(one, 0), at), m.view(one.operands[1], at, at.value),
                      m.target(one.outputs[0], at, at.query));
             });
         }},
        {Kind::kAttentionValueGradient,
         [](Machine& m, const Operator& one) {
             const auto sums = m.exact() ? exact::attention_value_gradient : attention_value_gradient;
             m.each_head([&](const HeadPlace& at) {
                 sums(m.head_shape(), m.head_part(m.in(one, 0), at), m.view(one.operands[1], at, at.query),
                      m.target(one.outputs[0], at, at.value), at.start);
             });
         }},
        {Kind::kAttentionProbabilityGradient,
         [](Machine& m, const Operator& one) {
             const auto products =
                 m.exact() ? exact::attention_probability_gradient : attention_probability_gradient;
             m.each_head([&](const HeadPlace& at) {
                 products(m.head_shape(), m.view(one.operands[0], at, at.query),
                          m.view(one.operands[1], at, at.value), m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kSoftmaxDot,
         [](Machine& m, const Operator& one) {
             m.each_head([&](const HeadPlace& at) {
                 softmax_dot(m.context_, m.head_part(m.in(one, 0), at), m.head_part(m.in(one, 1), at),
                             m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kSoftmaxGradient,
         [](Machine& m, const Operator& one) {
             m.each_head([&](const HeadPlace& at) {
                 softmax_gradient(m.head_shape(), m.head_part(m.in(one, 0), at),
                                  m.head_part(m.in(one, 1), at), m.head_part(m.in(one, 2), at),
                                  m.head_part(m.out(one, 0), at));
             });
         }},
        {Kind::kAttentionQueryGradient,
         [](Machine& m, const Operator& one) {
             const auto sums = m.exact() ? exact::attention_query_gradient : attention_query_gradient;
             m.each_head([&](const HeadPlace& at) {
                 sums(m.head_shape(), m.head_part(m.in(one, 0), at), m.view(one.operands[1], at, at.key),
                      m.target(one.outputs[0], at, at.query));
             });
         }},
        {Kind::kAttentionKeyGradient,
         [](Machine& m, const Operator& one) {
             const auto sums = m.exact() ? exact::attention_key_gradient : attention_key_gradient;
             m.each_head([&](const HeadPlace& at) {
                 sums(m.head_shape(), m.head_part(m.in(one, 0), at), m.view(one.operands[1], at, at.query),
                      m.target(one.outputs[0], at, at.key), at.start);
             });
         }},
    };
    return kDefinitions;
}

}  // namespace assay::program
