// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/reference_machine.hpp"

#include "contracts/arithmetic/embedding.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/base/check.hpp"

namespace assay::program {

namespace {
using namespace assay::arithmetic;
using Kind = OperatorKind;
}  // namespace

ReferenceMachine::ReferenceMachine(const Program& program, std::span<const std::uint32_t> tokens)
    : program_(program), sequences_(0), context_(program.model.context) {
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
            tensor.role == Role::kTokens ? 0 : tensor.rows.of(sequences_) * tensor.cols;
        tensors_.emplace_back(size, 0.0F);
    }
}

std::span<float> ReferenceMachine::part(std::span<float> values, std::uint64_t sequence) const {
    const std::size_t size = values.size() / sequences_;
    return values.subspan(sequence * size, size);
}

void ReferenceMachine::execute(const Operator& one, const AdamWCoefficients& coefficients) {
    if (one.kind >= Kind::kTiedGradient) return update(one, coefficients);
    if (one.kind >= Kind::kAttentionValueGradient && one.kind <= Kind::kAttentionKeyGradient) {
        return attention_backward(one);
    }
    if (one.kind >= Kind::kHeadInputGradient) return backward(one);
    if (one.kind >= Kind::kLossMax) return loss(one);
    if (one.kind >= Kind::kAttentionScores && one.kind <= Kind::kAttentionValues) {
        return attention_forward(one);
    }
    forward(one);
}

void ReferenceMachine::forward(const Operator& one) {
    const std::uint64_t rows = sequences_ * context_;
    const std::uint64_t width = program_.model.width;
    switch (one.kind) {
        case Kind::kEmbedding:
            for (std::uint64_t s = 0; s < sequences_; ++s) {
                embedding_forward(width, std::span(inputs_).subspan(s * context_, context_), in(one, 1),
                                  in(one, 2), part(out(one, 0), s));
            }
            return;
        case Kind::kLayerNorm:
            return layer_norm_forward(in(one, 0), in(one, 1), in(one, 2), out(one, 0),
                                      {out(one, 1), out(one, 2)});
        case Kind::kLinear:
            product_nn({rows, cols(one.outputs[0]), cols(one.operands[0])}, in(one, 0), in(one, 1),
                       out(one, 0));
            return add_bias(in(one, 2), out(one, 0));
        case Kind::kGelu: return gelu_forward(in(one, 0), out(one, 0));
        case Kind::kAdd: return add(in(one, 0), in(one, 1), out(one, 0));
        case Kind::kHead:
            return product_nt({rows, program_.model.vocabulary, width}, in(one, 0), in(one, 1), out(one, 0));
        default: ASSAY_CHECK(false);
    }
}

void ReferenceMachine::loss(const Operator& one) {
    const std::uint64_t vocabulary = program_.model.vocabulary;
    switch (one.kind) {
        case Kind::kLossMax: return loss_max(vocabulary, in(one, 0), out(one, 0));
        case Kind::kLossExp: return loss_exp(vocabulary, in(one, 0), in(one, 1), out(one, 0));
        case Kind::kLossSum: return loss_sum(vocabulary, in(one, 0), out(one, 0));
        case Kind::kLossTokens:
            return loss_tokens(vocabulary, in(one, 0), in(one, 1), in(one, 2), targets_, out(one, 0));
        case Kind::kLossTotal: {
            float total = 0.0F;
            for (std::uint64_t s = 0; s < sequences_; ++s) {
                total = loss_total_carry(part(in(one, 0), s), total);
            }
            out(one, 0)[0] = total * reciprocal(targets_.size());
            return;
        }
        case Kind::kLossGradient:
            return loss_gradient(vocabulary, reciprocal(targets_.size()), in(one, 0), in(one, 1), targets_,
                                 out(one, 0));
        default: ASSAY_CHECK(false);
    }
}

void ReferenceMachine::backward(const Operator& one) {
    const std::uint64_t rows = sequences_ * context_;
    const std::uint64_t width = program_.model.width;
    const std::uint64_t vocabulary = program_.model.vocabulary;
    switch (one.kind) {
        case Kind::kHeadInputGradient:
            return product_nn({rows, width, vocabulary}, in(one, 0), in(one, 1), out(one, 0));
        case Kind::kHeadWeightGradient:
            return product_tn_carry({vocabulary, width, rows}, in(one, 0), in(one, 1), out(one, 0));
        case Kind::kLayerNormInputGradient:
            return layer_norm_input_gradient(in(one, 0), in(one, 1), in(one, 4), {in(one, 2), in(one, 3)},
                                             out(one, 0));
        case Kind::kLayerNormParameterGradient: return layer_norm_parameters(one);
        case Kind::kLinearInputGradient:
            return product_nt({rows, cols(one.outputs[0]), cols(one.operands[0])}, in(one, 0), in(one, 1),
                              out(one, 0));
        case Kind::kLinearWeightGradient:
            return product_tn_carry({cols(one.operands[0]), cols(one.operands[1]), rows}, in(one, 0),
                                    in(one, 1), out(one, 0));
        case Kind::kLinearBiasGradient:
            for (std::uint64_t s = 0; s < sequences_; ++s) {
                bias_gradient_carry(part(in(one, 0), s), out(one, 0));
            }
            return;
        case Kind::kGeluGradient: return gelu_backward(in(one, 0), in(one, 1), out(one, 0));
        case Kind::kEmbeddingGradient:
            for (std::uint64_t s = 0; s < sequences_; ++s) {
                embedding_gradient_carry(width, std::span(inputs_).subspan(s * context_, context_),
                                         part(in(one, 1), s), out(one, 0), out(one, 1));
            }
            return;
        default: ASSAY_CHECK(false);
    }
}

void ReferenceMachine::layer_norm_parameters(const Operator& one) {
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        layer_norm_parameter_gradient_carry(part(in(one, 0), s), part(in(one, 1), s),
                                            {part(in(one, 2), s), part(in(one, 3), s)}, out(one, 0),
                                            out(one, 1));
    }
}

void ReferenceMachine::attention_forward(const Operator& one) {
    const std::uint64_t width = program_.model.width;
    const std::uint64_t heads = program_.model.heads;
    const HeadShape shape{context_, width / heads};
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        for (std::uint64_t h = 0; h < heads; ++h) {
            // Matrices and vectors per head stand sequence by sequence, head by head.
            const auto head = [&](std::span<float> values) {
                const std::size_t size = values.size() / (sequences_ * heads);
                return values.subspan((s * heads + h) * size, size);
            };
            const auto first = [&](std::span<float> qkv, std::uint64_t third) {
                return HeadView{part(qkv, s).data() + third * width + h * shape.head_dim, 3 * width};
            };
            const auto result = head(out(one, 0));
            switch (one.kind) {
                case Kind::kAttentionScores:
                    attention_scores(shape, first(in(one, 0), 0), first(in(one, 0), 1), result);
                    break;
                case Kind::kSoftmaxMax: softmax_max(context_, head(in(one, 0)), result); break;
                case Kind::kSoftmaxExp:
                    softmax_exp(context_, head(in(one, 0)), head(in(one, 1)), result);
                    break;
                case Kind::kSoftmaxSum: softmax_sum(context_, head(in(one, 0)), result); break;
                case Kind::kSoftmaxDivide:
                    softmax_divide(context_, head(in(one, 0)), head(in(one, 1)), result);
                    break;
                case Kind::kAttentionValues:
                    attention_values(shape, head(in(one, 0)), first(in(one, 1), 2),
                                     {part(out(one, 0), s).data() + h * shape.head_dim, width});
                    break;
                default: ASSAY_CHECK(false);
            }
        }
    }
}

void ReferenceMachine::attention_backward(const Operator& one) {
    const std::uint64_t width = program_.model.width;
    const std::uint64_t heads = program_.model.heads;
    const HeadShape shape{context_, width / heads};
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        for (std::uint64_t h = 0; h < heads; ++h) {
            const auto head = [&](std::span<float> values) {
                const std::size_t size = values.size() / (sequences_ * heads);
                return values.subspan((s * heads + h) * size, size);
            };
            const auto at = [&](std::span<float> rows, std::uint64_t third) {
                return part(rows, s).data() + third * width + h * shape.head_dim;
            };
            const auto d_o = [&](std::size_t i) { return HeadView{at(in(one, i), 0), width}; };
            const auto qkv = [&](std::size_t i, std::uint64_t third) {
                return HeadView{at(in(one, i), third), 3 * width};
            };
            const auto dqkv = [&](std::uint64_t third) { return HeadOut{at(out(one, 0), third), 3 * width}; };
            switch (one.kind) {
                case Kind::kAttentionValueGradient:
                    attention_value_gradient(shape, head(in(one, 0)), d_o(1), dqkv(2));
                    break;
                case Kind::kAttentionProbabilityGradient:
                    attention_probability_gradient(shape, d_o(0), qkv(1, 2), head(out(one, 0)));
                    break;
                case Kind::kSoftmaxDot:
                    softmax_dot(context_, head(in(one, 0)), head(in(one, 1)), head(out(one, 0)));
                    break;
                case Kind::kSoftmaxGradient:
                    softmax_gradient(shape, head(in(one, 0)), head(in(one, 1)), head(in(one, 2)),
                                     head(out(one, 0)));
                    break;
                case Kind::kAttentionQueryGradient:
                    attention_query_gradient(shape, head(in(one, 0)), qkv(1, 1), dqkv(0));
                    break;
                case Kind::kAttentionKeyGradient:
                    attention_key_gradient(shape, head(in(one, 0)), qkv(1, 0), dqkv(1));
                    break;
                default: ASSAY_CHECK(false);
            }
        }
    }
}

void ReferenceMachine::global_norm(const Operator& one) {
    std::vector<float> sums;
    for (const TensorId id : one.operands) {
        const std::uint64_t rows = program_.tensors[id].rows.fixed;
        const std::size_t first = sums.size();
        sums.resize(first + tile_count(rows, cols(id)));
        square_tiles(rows, cols(id), values(id), std::span(sums).subspan(first));
    }
    out(one, 0)[0] = norm_of_tiles(sums);
}

void ReferenceMachine::update(const Operator& one, const AdamWCoefficients& coefficients) {
    switch (one.kind) {
        case Kind::kTiedGradient: return add(in(one, 0), in(one, 1), out(one, 0));
        case Kind::kGlobalNorm: return global_norm(one);
        case Kind::kClip: out(one, 0)[0] = clip_scale(in(one, 0)[0], program_.clip_norm); return;
        case Kind::kAdamW: {
            AdamWCoefficients own = coefficients;
            if (!program_.parameters[one.operands[2]].decays()) own.decay = 0.0F;
            return adamw(own, in(one, 1)[0], in(one, 0), out(one, 0), out(one, 1), out(one, 2));
        }
        default: ASSAY_CHECK(false);
    }
}

}  // namespace assay::program
