// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/reference_machine.hpp"

#include "contracts/arithmetic/embedding.hpp"
#include "contracts/arithmetic/exact_product.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/rms_norm.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "contracts/arithmetic/swiglu.hpp"
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
    if (program.model.family == Family::kLlama) {
        const std::uint64_t angles = context_ * (program.model.head_dim() / 2);
        rope_cos_.resize(angles);
        rope_sin_.resize(angles);
        rope_table(context_, program.model.head_dim(), static_cast<double>(program.model.rope_theta.value()),
                   rope_cos_, rope_sin_);
    }
}

void ReferenceMachine::product(const Operator& one, Form form, ProductShape shape, std::span<const float> a,
                               std::span<const float> b, std::span<float> c) const {
    if (!exact()) {
        switch (form) {
            case Form::kPlain: return product_nn(shape, a, b, c);
            case Form::kTransposedB: return product_nt(shape, a, b, c);
            case Form::kTransposedA: return product_tn_carry(shape, a, b, c);
        }
    }
    const bool carried = form == Form::kTransposedA;
    const MatrixView left = carried ? MatrixView{a.data(), 1, shape.m} : MatrixView{a.data(), shape.k, 1};
    const MatrixView right =
        form == Form::kTransposedB ? MatrixView{b.data(), 1, shape.k} : MatrixView{b.data(), shape.n, 1};
    exact_product(shape, one.rule, left, right, carried ? ChainStart::kCarry : ChainStart::kZero, c.data(),
                  shape.n);
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
                const auto tokens = std::span(inputs_).subspan(s * context_, context_);
                if (one.operands.size() == 2) {
                    embedding_forward(width, tokens, in(one, 1), part(out(one, 0), s));
                } else {
                    embedding_forward(width, tokens, in(one, 1), in(one, 2), part(out(one, 0), s));
                }
            }
            return;
        case Kind::kLayerNorm:
            return layer_norm_forward(in(one, 0), in(one, 1), in(one, 2), out(one, 0),
                                      {out(one, 1), out(one, 2)});
        case Kind::kRmsNorm:
            return rms_norm_forward(program_.model.norm_epsilon.value(), in(one, 0), in(one, 1), out(one, 0),
                                    out(one, 1));
        case Kind::kLinear:
            product(one, one.layout == WeightLayout::kInOut ? Form::kPlain : Form::kTransposedB,
                    {rows, cols(one.outputs[0]), cols(one.operands[0])}, in(one, 0), in(one, 1), out(one, 0));
            if (one.operands.size() > 2) add_bias(in(one, 2), out(one, 0));
            return;
        case Kind::kRope: return rope(one);
        case Kind::kGelu: return gelu_forward(in(one, 0), out(one, 0));
        case Kind::kSwiGlu: return swiglu_forward(cols(one.outputs[0]), in(one, 0), out(one, 0));
        case Kind::kAdd: return add(in(one, 0), in(one, 1), out(one, 0));
        case Kind::kHead:
            return product(one, Form::kTransposedB, {rows, program_.model.vocabulary, width}, in(one, 0),
                           in(one, 1), out(one, 0));
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
            return product(one, Form::kPlain, {rows, width, vocabulary}, in(one, 0), in(one, 1), out(one, 0));
        case Kind::kHeadWeightGradient:
            return product(one, Form::kTransposedA, {vocabulary, width, rows}, in(one, 0), in(one, 1),
                           out(one, 0));
        case Kind::kLayerNormInputGradient:
            return layer_norm_input_gradient(in(one, 0), in(one, 1), in(one, 4), {in(one, 2), in(one, 3)},
                                             out(one, 0));
        case Kind::kRmsNormInputGradient:
            return rms_norm_input_gradient(in(one, 0), in(one, 1), in(one, 3), in(one, 2), out(one, 0));
        case Kind::kLayerNormParameterGradient:
        case Kind::kRmsNormParameterGradient: return norm_parameters(one);
        case Kind::kLinearInputGradient:
            return product(one, one.layout == WeightLayout::kInOut ? Form::kTransposedB : Form::kPlain,
                           {rows, cols(one.outputs[0]), cols(one.operands[0])}, in(one, 0), in(one, 1),
                           out(one, 0));
        case Kind::kLinearWeightGradient: {
            // The rows of the weight come from x when it is [in,out] and from dy when it is [out,in].
            const std::size_t left = one.layout == WeightLayout::kInOut ? 0 : 1;
            return product(one, Form::kTransposedA,
                           {cols(one.operands[left]), cols(one.operands[1 - left]), rows}, in(one, left),
                           in(one, 1 - left), out(one, 0));
        }
        case Kind::kLinearBiasGradient:
            for (std::uint64_t s = 0; s < sequences_; ++s) {
                bias_gradient_carry(part(in(one, 0), s), out(one, 0));
            }
            return;
        case Kind::kGeluGradient: return gelu_backward(in(one, 0), in(one, 1), out(one, 0));
        case Kind::kSwiGluGradient:
            return swiglu_backward(cols(one.operands[1]), in(one, 0), in(one, 1), out(one, 0));
        case Kind::kRopeGradient: return rope(one);
        case Kind::kEmbeddingGradient:
            for (std::uint64_t s = 0; s < sequences_; ++s) {
                const auto tokens = std::span(inputs_).subspan(s * context_, context_);
                if (one.outputs.size() == 1) {
                    embedding_gradient_carry(width, tokens, part(in(one, 1), s), out(one, 0));
                } else {
                    embedding_gradient_carry(width, tokens, part(in(one, 1), s), out(one, 0), out(one, 1));
                }
            }
            return;
        default: ASSAY_CHECK(false);
    }
}

void ReferenceMachine::norm_parameters(const Operator& one) {
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        const std::span<float> dy = part(in(one, 0), s);
        const std::span<float> x = part(in(one, 1), s);
        if (one.kind == Kind::kRmsNormParameterGradient) {
            rms_norm_parameter_gradient_carry(dy, x, part(in(one, 2), s), out(one, 0));
        } else {
            layer_norm_parameter_gradient_carry(dy, x, {part(in(one, 2), s), part(in(one, 3), s)},
                                                out(one, 0), out(one, 1));
        }
    }
}

void ReferenceMachine::rope(const Operator& one) {
    // Queries and keys stand side by side: one run of heads.
    const RopeShape shape{.tokens = context_,
                          .heads = program_.model.heads + program_.model.key_value_heads(),
                          .head_dim = program_.model.head_dim(),
                          .stride = program_.model.qkv_width()};
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        float* rows = part(out(one, 0), s).data();
        if (one.kind == Kind::kRope) {
            rope_forward(shape, {rope_cos_, rope_sin_}, rows);
        } else {
            rope_backward(shape, {rope_cos_, rope_sin_}, rows);
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
