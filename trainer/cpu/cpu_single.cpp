// SPDX-License-Identifier: Apache-2.0
// Single operators, each from memory to memory by the kernels that groups use: for disputes, in which any
// tensor of a program may be asked for.
#include <algorithm>

#include "contracts/arithmetic/loss.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/cpu_heads.hpp"
#include "trainer/cpu/cpu_scratch.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;
using arithmetic::ChainStart;

void CpuDevice::single(const GroupCall& call) {
    switch (program_->operators[call.group.operators.front()].kind) {
        case Kind::kLinear:
        case Kind::kLinearInputGradient:
        case Kind::kHead:
        case Kind::kHeadInputGradient: return linear(call);
        case Kind::kLinearWeightGradient:
        case Kind::kHeadWeightGradient: return weight_gradient(call);
        case Kind::kLinearBiasGradient:
        case Kind::kLayerNormParameterGradient:
        case Kind::kRmsNormParameterGradient: return column_gradient(call);
        case Kind::kEmbeddingGradient: return embedding_gradient(call);
        case Kind::kAttentionScores:
        case Kind::kSoftmaxMax:
        case Kind::kSoftmaxExp:
        case Kind::kSoftmaxSum:
        case Kind::kSoftmaxDivide:
        case Kind::kAttentionValues:
        case Kind::kAttentionValueGradient:
        case Kind::kAttentionProbabilityGradient:
        case Kind::kSoftmaxDot:
        case Kind::kSoftmaxGradient:
        case Kind::kAttentionQueryGradient:
        case Kind::kAttentionKeyGradient: return heads_of(call);
        case Kind::kLossMax:
        case Kind::kLossExp:
        case Kind::kLossSum:
        case Kind::kLossTokens:
        case Kind::kLossTotal:
        case Kind::kLossGradient: return loss_of(call);
        case Kind::kTiedGradient:
        case Kind::kGlobalNorm:
        case Kind::kClip:
        case Kind::kAdamW: return step_of(call);
        default: return rows(call, 0);
    }
}

// Query heads that share a key head go one after the other: its gradients are carried from one to the next.
void CpuDevice::heads_of(const GroupCall& call) {
    const Heads heads(program_->model);
    pool_.deal_tasks(sequences_ * heads.keys, [&](std::size_t, std::uint64_t item) {
        const std::uint64_t first = item % heads.keys * heads.shared();
        for (std::uint64_t h = first; h < first + heads.shared(); ++h) {
            note(call.group.operators.front(), head_of(call, heads, item / heads.keys, h));
        }
    });
}

bool CpuDevice::head_of(const GroupCall& call, const Heads& heads, std::uint64_t sequence,
                        std::uint64_t head) {
    const Operator& one = program_->operators[call.group.operators.front()];
    const std::uint64_t n = heads.shape.tokens;
    const std::uint64_t g = head / heads.shared();
    const std::uint64_t item = sequence * heads.queries + head;
    const ChainStart start = head % heads.shared() == 0 ? ChainStart::kZero : ChainStart::kCarry;
    const auto square = [&](float* all) { return floats(all + item * heads.square(), heads.square()); };
    const auto column = [&](float* all) { return floats(all + item * n, n); };
    // A head's columns in rows of width or of qkv.
    const auto rows = [&](program::TensorId id, std::uint64_t at) {
        return HeadOut{call.tensors[id] + sequence * n * cols(id) + at, cols(id)};
    };
    const auto view_of = [&](program::TensorId id, std::uint64_t at) {
        const HeadOut found = rows(id, at);
        return HeadView{found.data, found.stride};
    };
    float* to = out(call, one, 0);
    const auto from = [&](std::size_t i) { return in(call, one, i); };
    const program::TensorId written = one.outputs[0];
    switch (one.kind) {
        case Kind::kAttentionScores:
            return products_->attention_scores(heads.shape, view_of(one.operands[0], heads.query(head)),
                                               view_of(one.operands[0], heads.key(g)), square(to));
        case Kind::kSoftmaxMax: return kernels_.softmax_max(n, square(from(0)), column(to));
        case Kind::kSoftmaxExp: return kernels_.softmax_exp(n, square(from(0)), column(from(1)), square(to));
        case Kind::kSoftmaxSum: return kernels_.softmax_sum(n, square(from(0)), column(to));
        case Kind::kSoftmaxDivide:
            return kernels_.softmax_divide(n, square(from(0)), column(from(1)), square(to));
        case Kind::kAttentionValues:
            return products_->attention_values(heads.shape, square(from(0)),
                                               view_of(one.operands[1], heads.value(g)),
                                               rows(written, heads.query(head)));
        case Kind::kAttentionValueGradient:
            return products_->attention_value_gradient(heads.shape, square(from(0)),
                                                       view_of(one.operands[1], heads.query(head)),
                                                       rows(written, heads.value(g)), start);
        case Kind::kAttentionProbabilityGradient:
            return products_->attention_probability_gradient(
                heads.shape, view_of(one.operands[0], heads.query(head)),
                view_of(one.operands[1], heads.value(g)), square(to));
        case Kind::kSoftmaxDot: return kernels_.softmax_dot(n, square(from(0)), square(from(1)), column(to));
        case Kind::kSoftmaxGradient:
            return kernels_.softmax_gradient(heads.shape, square(from(0)), square(from(1)), column(from(2)),
                                             square(to));
        case Kind::kAttentionQueryGradient:
            return products_->attention_query_gradient(heads.shape, square(from(0)),
                                                       view_of(one.operands[1], heads.key(g)),
                                                       rows(written, heads.query(head)));
        case Kind::kAttentionKeyGradient:
            return products_->attention_key_gradient(heads.shape, square(from(0)),
                                                     view_of(one.operands[1], heads.query(head)),
                                                     rows(written, heads.key(g)), start);
        default: ASSAY_CHECK(false);
    }
    return false;
}

void CpuDevice::loss_of(const GroupCall& call) {
    constexpr std::size_t kRows = 2;  // least share of a thread
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    const std::uint64_t v = vocabulary_;
    const float reciprocal = arithmetic::reciprocal(numbers_.tokens);
    if (one.kind == Kind::kLossTotal) {
        for (std::uint64_t s = 0; s < sequences_; ++s) {
            const float* losses = in(call, one, 0) + s * context_;
            loss_total_ = arithmetic::loss_total_carry(view(losses, context_), loss_total_);
        }
        float* loss = out(call, one, 0);
        *loss = loss_total_ * reciprocal;
        return note(index, kernels_.all_finite({loss, 1}));
    }
    pool_.split(row_count(), kRows, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        const auto wide = [&](float* all) { return floats(all + first * v, count * v); };
        const auto thin = [&](float* all) { return floats(all + first, count); };
        const auto from = [&](std::size_t i) { return in(call, one, i); };
        const auto targets =
            std::span<const std::uint32_t>(targets_).subspan(first_ * context_ + first, count);
        float* to = out(call, one, 0);
        bool finite = false;
        switch (one.kind) {
            case Kind::kLossMax: finite = kernels_.loss_max(v, wide(from(0)), thin(to)); break;
            case Kind::kLossExp: finite = kernels_.loss_exp(v, wide(from(0)), thin(from(1)), wide(to)); break;
            case Kind::kLossSum: finite = kernels_.loss_sum(v, wide(from(0)), thin(to)); break;
            case Kind::kLossTokens:
                arithmetic::loss_tokens(v, wide(from(0)), thin(from(1)), thin(from(2)), targets, thin(to));
                finite = kernels_.all_finite(thin(to));
                break;
            case Kind::kLossGradient:
                finite =
                    kernels_.loss_gradient(v, reciprocal, wide(from(0)), thin(from(1)), targets, wide(to));
                break;
            default: ASSAY_CHECK(false);
        }
        note(index, finite);
    });
}

void CpuDevice::step_of(const GroupCall& call) {
    constexpr std::size_t kElements = 4096;
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    switch (one.kind) {
        case Kind::kTiedGradient:
            return pool_.split(vocabulary_ * width_, kElements, [&](std::size_t first, std::size_t last) {
                const auto part = [&](float* p) { return floats(p + first, last - first); };
                note(index,
                     kernels_.add(part(in(call, one, 0)), part(in(call, one, 1)), part(out(call, one, 0))));
            });
        case Kind::kGlobalNorm: return global_norm(call);
        case Kind::kClip: return clip(call);
        case Kind::kAdamW: note(index, adamw(call, one)); return forget_adopted();
        default: ASSAY_CHECK(false);
    }
}

}  // namespace assay::trainer
