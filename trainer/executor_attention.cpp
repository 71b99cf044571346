// SPDX-License-Identifier: Apache-2.0
// Attention's operators, a head of a sequence at a time, and the check for numbers that are not finite.
#include <atomic>

#include "contracts/base/check.hpp"
#include "trainer/executor.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;
using arithmetic::HeadOut;
using arithmetic::HeadShape;
using arithmetic::HeadView;

void Executor::attention(const Operator& one) {
    pool_.split(sequences_ * heads_, 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) attention_head(one, i / heads_, i % heads_);
    });
}

bool Executor::attention_head(const Operator& one, std::uint64_t sequence, std::uint64_t head) {
    const std::uint64_t n = context_;
    const HeadShape shape{n, width_ / heads_};
    const auto square = [&](float* p) {
        return std::span<float>(p + (sequence * heads_ + head) * n * n, n * n);
    };
    const auto column = [&](float* p) { return std::span<float>(p + (sequence * heads_ + head) * n, n); };
    const auto at = [&](float* p, std::uint64_t stride, std::uint64_t third) {
        return p + sequence * n * stride + third * width_ + head * shape.head_dim;
    };
    const auto qkv = [&](std::size_t i, std::uint64_t third) {
        return HeadView{at(in(one, i), 3 * width_, third), 3 * width_};
    };
    const auto dqkv = [&](std::uint64_t third) {
        return HeadOut{at(out(one, 0), 3 * width_, third), 3 * width_};
    };
    const auto d_o = [&](std::size_t i) { return HeadView{at(in(one, i), width_, 0), width_}; };
    switch (one.kind) {
        case Kind::kAttentionScores:
            return products_.attention_scores(shape, qkv(0, 0), qkv(0, 1), square(out(one, 0)));
        case Kind::kSoftmaxMax: return kernels_.softmax_max(n, square(in(one, 0)), column(out(one, 0)));
        case Kind::kSoftmaxExp:
            return kernels_.softmax_exp(n, square(in(one, 0)), column(in(one, 1)), square(out(one, 0)));
        case Kind::kSoftmaxSum: return kernels_.softmax_sum(n, square(in(one, 0)), column(out(one, 0)));
        case Kind::kSoftmaxDivide:
            return kernels_.softmax_divide(n, square(in(one, 0)), column(in(one, 1)), square(out(one, 0)));
        case Kind::kAttentionValues:
            return products_.attention_values(shape, square(in(one, 0)), qkv(1, 2),
                                              HeadOut{at(out(one, 0), width_, 0), width_});
        case Kind::kAttentionValueGradient:
            return products_.attention_value_gradient(shape, square(in(one, 0)), d_o(1), dqkv(2),
                                                      ChainStart::kZero);
        case Kind::kAttentionProbabilityGradient:
            return products_.attention_probability_gradient(shape, d_o(0), qkv(1, 2), square(out(one, 0)));
        case Kind::kSoftmaxDot:
            return kernels_.softmax_dot(n, square(in(one, 0)), square(in(one, 1)), column(out(one, 0)));
        case Kind::kSoftmaxGradient:
            return kernels_.softmax_gradient(shape, square(in(one, 0)), square(in(one, 1)),
                                             column(in(one, 2)), square(out(one, 0)));
        case Kind::kAttentionQueryGradient:
            return products_.attention_query_gradient(shape, square(in(one, 0)), qkv(1, 1), dqkv(0));
        case Kind::kAttentionKeyGradient:
            return products_.attention_key_gradient(shape, square(in(one, 0)), qkv(1, 0), dqkv(1),
                                                    ChainStart::kZero);
        default: ASSAY_CHECK(false);
    }
}

// Only what the operator has written: the triangle of a [T,T] matrix, its third of dqkv.
bool Executor::finite_attention(const Operator& one, std::uint64_t sequence, std::uint64_t head) const {
    const std::uint64_t n = context_;
    const std::uint64_t dim = width_ / heads_;
    std::uint64_t third = 0;
    switch (one.kind) {
        case Kind::kAttentionScores:
        case Kind::kSoftmaxExp:
        case Kind::kSoftmaxDivide:
        case Kind::kAttentionProbabilityGradient:
        case Kind::kSoftmaxGradient:
            for (std::uint64_t i = 0; i < n; ++i) {
                const float* row = out(one, 0) + (sequence * heads_ + head) * n * n + i * n;
                if (!kernels_.all_finite({row, i + 1})) return false;
            }
            return true;
        case Kind::kAttentionQueryGradient: third = 0; break;
        case Kind::kAttentionKeyGradient: third = 1; break;
        case Kind::kAttentionValueGradient: third = 2; break;
        default: ASSAY_CHECK(false);
    }
    for (std::uint64_t t = 0; t < n; ++t) {
        const float* row = out(one, 0) + (sequence * n + t) * 3 * width_ + third * width_ + head * dim;
        if (!kernels_.all_finite({row, dim})) return false;
    }
    return true;
}

bool Executor::finite(const Operator& one) {
    std::atomic<bool> good = true;
    switch (one.kind) {
        case Kind::kAttentionScores:
        case Kind::kSoftmaxExp:
        case Kind::kSoftmaxDivide:
        case Kind::kAttentionValueGradient:
        case Kind::kAttentionProbabilityGradient:
        case Kind::kSoftmaxGradient:
        case Kind::kAttentionQueryGradient:
        case Kind::kAttentionKeyGradient:
            pool_.split(sequences_ * heads_, 1, [&](std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) {
                    if (!finite_attention(one, i / heads_, i % heads_)) good = false;
                }
            });
            return good;
        default: break;
    }
    constexpr std::size_t kShare = 16384;
    for (const program::TensorId id : one.outputs) {
        pool_.split(size(id), kShare, [&](std::size_t first, std::size_t last) {
            if (!kernels_.all_finite({data(id) + first, last - first})) good = false;
        });
    }
    return good;
}

}  // namespace assay::trainer
