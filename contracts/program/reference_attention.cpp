// SPDX-License-Identifier: Apache-2.0
// The attention operators of the reference interpreter, a query head of a sequence at a time.
#include "contracts/arithmetic/exact_attention.hpp"
#include "contracts/base/check.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::program {

namespace {
using namespace assay::arithmetic;
using Kind = OperatorKind;
}  // namespace

ReferenceMachine::HeadColumns ReferenceMachine::head_columns(std::uint64_t head) const {
    const ModelConfig& model = program_.model;
    const std::uint64_t dim = model.head_dim();
    const std::uint64_t group = head / (model.heads / model.key_value_heads());
    return {head * dim, (model.heads + group) * dim, (model.heads + model.key_value_heads() + group) * dim};
}

std::span<float> ReferenceMachine::head_part(std::span<float> values, std::uint64_t sequence,
                                             std::uint64_t head) const {
    const std::uint64_t heads = program_.model.heads;
    const std::size_t size = values.size() / (sequences_ * heads);
    return values.subspan((sequence * heads + head) * size, size);
}

HeadView ReferenceMachine::view(TensorId id, std::uint64_t sequence, std::uint64_t column) {
    return {part(values(id), sequence).data() + column, cols(id)};
}

HeadOut ReferenceMachine::target(TensorId id, std::uint64_t sequence, std::uint64_t column) {
    return {part(values(id), sequence).data() + column, cols(id)};
}

void ReferenceMachine::attention_forward(const Operator& one) {
    const HeadShape shape = head_shape();
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        for (std::uint64_t h = 0; h < program_.model.heads; ++h) {
            const HeadColumns at = head_columns(h);
            const auto head = [&](std::span<float> values) { return head_part(values, s, h); };
            switch (one.kind) {
                case Kind::kAttentionScores: {
                    const auto scores = exact() ? exact::attention_scores : attention_scores;
                    scores(shape, view(one.operands[0], s, at.query), view(one.operands[0], s, at.key),
                           head(out(one, 0)));
                    break;
                }
                case Kind::kSoftmaxMax: softmax_max(context_, head(in(one, 0)), head(out(one, 0))); break;
                case Kind::kSoftmaxExp:
                    softmax_exp(context_, head(in(one, 0)), head(in(one, 1)), head(out(one, 0)));
                    break;
                case Kind::kSoftmaxSum: softmax_sum(context_, head(in(one, 0)), head(out(one, 0))); break;
                case Kind::kSoftmaxDivide:
                    softmax_divide(context_, head(in(one, 0)), head(in(one, 1)), head(out(one, 0)));
                    break;
                case Kind::kAttentionValues: {
                    const auto sums = exact() ? exact::attention_values : attention_values;
                    sums(shape, head(in(one, 0)), view(one.operands[1], s, at.value),
                         target(one.outputs[0], s, at.query));
                    break;
                }
                default: ASSAY_CHECK(false);
            }
        }
    }
}

void ReferenceMachine::attention_backward(const Operator& one) {
    const HeadShape shape = head_shape();
    const std::uint64_t sharing = program_.model.heads / program_.model.key_value_heads();
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        for (std::uint64_t h = 0; h < program_.model.heads; ++h) {
            const HeadColumns at = head_columns(h);
            const auto head = [&](std::span<float> values) { return head_part(values, s, h); };
            // Query heads that share keys and values add to one gradient, in order.
            const ChainStart start = h % sharing == 0 ? ChainStart::kZero : ChainStart::kCarry;
            switch (one.kind) {
                case Kind::kAttentionValueGradient: {
                    const HeadView d_o = view(one.operands[1], s, at.query);
                    const HeadOut dv = target(one.outputs[0], s, at.value);
                    if (exact()) {
                        exact::attention_value_gradient(shape, head(in(one, 0)), d_o, dv, start);
                    } else {
                        attention_value_gradient(shape, head(in(one, 0)), d_o, dv, start);
                    }
                    break;
                }
                case Kind::kAttentionProbabilityGradient: {
                    const auto products =
                        exact() ? exact::attention_probability_gradient : attention_probability_gradient;
                    products(shape, view(one.operands[0], s, at.query), view(one.operands[1], s, at.value),
                             head(out(one, 0)));
                    break;
                }
                case Kind::kSoftmaxDot:
                    softmax_dot(context_, head(in(one, 0)), head(in(one, 1)), head(out(one, 0)));
                    break;
                case Kind::kSoftmaxGradient:
                    softmax_gradient(shape, head(in(one, 0)), head(in(one, 1)), head(in(one, 2)),
                                     head(out(one, 0)));
                    break;
                case Kind::kAttentionQueryGradient: {
                    const auto sums = exact() ? exact::attention_query_gradient : attention_query_gradient;
                    sums(shape, head(in(one, 0)), view(one.operands[1], s, at.key),
                         target(one.outputs[0], s, at.query));
                    break;
                }
                case Kind::kAttentionKeyGradient: {
                    const HeadView q = view(one.operands[1], s, at.query);
                    const HeadOut dk = target(one.outputs[0], s, at.key);
                    if (exact()) {
                        exact::attention_key_gradient(shape, head(in(one, 0)), q, dk, start);
                    } else {
                        attention_key_gradient(shape, head(in(one, 0)), q, dk, start);
                    }
                    break;
                }
                default: ASSAY_CHECK(false);
            }
        }
    }
}

}  // namespace assay::program
