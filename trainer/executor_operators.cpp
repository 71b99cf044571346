// SPDX-License-Identifier: Apache-2.0
// What the executor does for each kind of operator: cut its outputs into ranges, one per thread, and call the
// kernel on each.
#include <algorithm>

#include "contracts/arithmetic/embedding.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"
#include "trainer/executor.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;

namespace {
constexpr std::size_t kElements = 4096;  // least share of a thread
constexpr std::size_t kRows = 4;
constexpr std::size_t kColumns = 16;

std::span<const float> view(const float* data, std::size_t size) { return {data, size}; }
std::span<float> floats(float* data, std::size_t size) { return {data, size}; }
}  // namespace

void Executor::execute(const Operator& one) {
    if (one.kind >= Kind::kTiedGradient) return update(one);
    if (one.kind >= Kind::kAttentionValueGradient && one.kind <= Kind::kAttentionKeyGradient) {
        return attention(one);
    }
    if (one.kind >= Kind::kHeadInputGradient) return backward(one);
    if (one.kind >= Kind::kLossMax) return loss(one);
    if (one.kind >= Kind::kAttentionScores && one.kind <= Kind::kAttentionValues) return attention(one);
    forward(one);
}

void Executor::product(const Product& p) { products_.product(p, pool_); }

void Executor::forward(const Operator& one) {
    const std::uint64_t n = cols(one.outputs[0]);
    switch (one.kind) {
        case Kind::kEmbedding:
            return pool_.split(sequences_, 1, [&](std::size_t first, std::size_t last) {
                for (std::size_t s = first; s < last; ++s) {
                    arithmetic::embedding_forward(
                        width_, std::span(inputs_).subspan(s * context_, context_),
                        view(in(one, 1), vocabulary_ * width_), view(in(one, 2), context_ * width_),
                        floats(out(one, 0) + s * context_ * width_, context_ * width_));
                }
            });
        case Kind::kLayerNorm:
            return pool_.split(rows(), kRows, [&](std::size_t first, std::size_t last) {
                const std::size_t count = last - first;
                kernels_.layer_norm_forward(
                    view(in(one, 0) + first * n, count * n), view(in(one, 1), n), view(in(one, 2), n),
                    floats(out(one, 0) + first * n, count * n),
                    {floats(out(one, 1) + first, count), floats(out(one, 2) + first, count)});
            });
        case Kind::kLinear: {
            const std::uint64_t k = cols(one.operands[0]);
            product({rows(), n, k, {in(one, 0), k, 1}, {in(one, 1), n, 1}, out(one, 0), n});
            return pool_.split(rows(), kRows, [&](std::size_t first, std::size_t last) {
                kernels_.add_bias(view(in(one, 2), n), floats(out(one, 0) + first * n, (last - first) * n));
            });
        }
        case Kind::kGelu:
            return pool_.split(rows() * n, kElements, [&](std::size_t first, std::size_t last) {
                kernels_.gelu_forward(view(in(one, 0) + first, last - first),
                                      floats(out(one, 0) + first, last - first));
            });
        case Kind::kAdd:
            return pool_.split(rows() * n, kElements, [&](std::size_t first, std::size_t last) {
                kernels_.add(view(in(one, 0) + first, last - first), view(in(one, 1) + first, last - first),
                             floats(out(one, 0) + first, last - first));
            });
        case Kind::kHead:
            return product({rows(),
                            vocabulary_,
                            width_,
                            {in(one, 0), width_, 1},
                            {in(one, 1), 1, width_},
                            out(one, 0),
                            vocabulary_});
        default: ASSAY_CHECK(false);
    }
}

void Executor::loss(const Operator& one) {
    const std::uint64_t v = vocabulary_;
    if (one.kind == Kind::kLossTotal) {
        for (std::uint64_t s = 0; s < sequences_; ++s) {
            loss_total_ =
                arithmetic::loss_total_carry(view(in(one, 0) + s * context_, context_), loss_total_);
        }
        *out(one, 0) = loss_total_ * arithmetic::reciprocal(step_tokens_);
        return;
    }
    pool_.split(rows(), kRows, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        const auto wide = [&](float* p) { return floats(p + first * v, count * v); };
        const auto thin = [&](float* p) { return floats(p + first, count); };
        const auto targets = std::span<const std::uint32_t>(targets_).subspan(first, count);
        switch (one.kind) {
            case Kind::kLossMax: kernels_.loss_max(v, wide(in(one, 0)), thin(out(one, 0))); return;
            case Kind::kLossExp:
                kernels_.loss_exp(v, wide(in(one, 0)), thin(in(one, 1)), wide(out(one, 0)));
                return;
            case Kind::kLossSum: kernels_.loss_sum(v, wide(in(one, 0)), thin(out(one, 0))); return;
            case Kind::kLossTokens:
                return arithmetic::loss_tokens(v, wide(in(one, 0)), thin(in(one, 1)), thin(in(one, 2)),
                                               targets, thin(out(one, 0)));
            case Kind::kLossGradient:
                kernels_.loss_gradient(v, arithmetic::reciprocal(step_tokens_), wide(in(one, 0)),
                                       thin(in(one, 1)), targets, wide(out(one, 0)));
                return;
            default: ASSAY_CHECK(false);
        }
    });
}

void Executor::backward(const Operator& one) {
    const std::uint64_t n = cols(one.outputs[0]);
    const std::uint64_t sequence = context_;
    switch (one.kind) {
        case Kind::kHeadInputGradient:
            return product({rows(),
                            width_,
                            vocabulary_,
                            {in(one, 0), vocabulary_, 1},
                            {in(one, 1), width_, 1},
                            out(one, 0),
                            width_});
        case Kind::kHeadWeightGradient:
            return product({vocabulary_,
                            width_,
                            rows(),
                            {in(one, 0), 1, vocabulary_},
                            {in(one, 1), width_, 1},
                            out(one, 0),
                            width_,
                            ChainStart::kCarry});
        case Kind::kLinearInputGradient: {
            const std::uint64_t k = cols(one.operands[0]);
            return product({rows(), n, k, {in(one, 0), k, 1}, {in(one, 1), 1, k}, out(one, 0), n});
        }
        case Kind::kLinearWeightGradient: {
            const std::uint64_t m = cols(one.operands[0]);
            const std::uint64_t c = cols(one.operands[1]);
            return product(
                {m, c, rows(), {in(one, 0), 1, m}, {in(one, 1), c, 1}, out(one, 0), c, ChainStart::kCarry});
        }
        case Kind::kLinearBiasGradient: {
            const std::uint64_t c = cols(one.operands[0]);
            return pool_.split(c, kColumns, [&](std::size_t first, std::size_t last) {
                for (std::uint64_t s = 0; s < sequences_; ++s) {
                    kernels_.bias_gradient({sequence, last - first, c}, in(one, 0) + s * sequence * c + first,
                                           out(one, 0) + first);
                }
            });
        }
        case Kind::kLayerNormInputGradient:
            return pool_.split(rows(), kRows, [&](std::size_t first, std::size_t last) {
                const std::size_t count = last - first;
                kernels_.layer_norm_input_gradient(
                    view(in(one, 0) + first * n, count * n), view(in(one, 1) + first * n, count * n),
                    view(in(one, 4), n), {view(in(one, 2) + first, count), view(in(one, 3) + first, count)},
                    floats(out(one, 0) + first * n, count * n));
            });
        case Kind::kLayerNormParameterGradient:
            return pool_.split(width_, kColumns, [&](std::size_t first, std::size_t last) {
                for (std::uint64_t s = 0; s < sequences_; ++s) {
                    const std::uint64_t at = s * sequence;
                    kernels_.layer_norm_parameter_gradient(
                        {sequence, last - first, width_}, in(one, 0) + at * width_ + first,
                        in(one, 1) + at * width_ + first,
                        {view(in(one, 2) + at, sequence), view(in(one, 3) + at, sequence)},
                        out(one, 0) + first, out(one, 1) + first);
                }
            });
        case Kind::kGeluGradient:
            return pool_.split(rows() * n, kElements, [&](std::size_t first, std::size_t last) {
                kernels_.gelu_backward(view(in(one, 0) + first, last - first),
                                       view(in(one, 1) + first, last - first),
                                       floats(out(one, 0) + first, last - first));
            });
        case Kind::kEmbeddingGradient:
            for (std::uint64_t s = 0; s < sequences_; ++s) {
                arithmetic::embedding_gradient_carry(
                    width_, std::span(inputs_).subspan(s * context_, context_),
                    view(in(one, 1) + s * context_ * width_, context_ * width_),
                    floats(out(one, 0), vocabulary_ * width_), floats(out(one, 1), context_ * width_));
            }
            return;
        default: ASSAY_CHECK(false);
    }
}

void Executor::global_norm(const Operator& one) {
    std::size_t at = 0;
    for (const program::TensorId& id : one.operands) {
        const program::TensorInfo& info =
            program_.parameters[static_cast<std::size_t>(&id - one.operands.data())];
        const std::size_t across = arithmetic::tile_count(1, info.cols);
        const std::size_t start = at;
        pool_.split(info.rows, arithmetic::kTile, [&](std::size_t first, std::size_t last) {
            const std::size_t down = arithmetic::tile_count(last - first, 1);
            kernels_.square_tiles(
                last - first, info.cols, view(data(id) + first * info.cols, (last - first) * info.cols),
                std::span(tile_sums_).subspan(start + first / arithmetic::kTile * across, down * across));
        });
        at += arithmetic::tile_count(info.rows, info.cols);
    }
    *out(one, 0) = arithmetic::norm_of_tiles(tile_sums_);
}

void Executor::update(const Operator& one) {
    switch (one.kind) {
        case Kind::kTiedGradient:
            return pool_.split(size(one.outputs[0]), kElements, [&](std::size_t first, std::size_t last) {
                kernels_.add(view(in(one, 0) + first, last - first), view(in(one, 1) + first, last - first),
                             floats(out(one, 0) + first, last - first));
            });
        case Kind::kGlobalNorm: return global_norm(one);
        case Kind::kClip: *out(one, 0) = arithmetic::clip_scale(*in(one, 0), program_.clip_norm); return;
        case Kind::kAdamW: {
            arithmetic::AdamWCoefficients own = coefficients_;
            if (!program_.parameters[one.operands[2]].decays()) own.decay = 0.0F;
            return pool_.split(size(one.outputs[0]), kElements, [&](std::size_t first, std::size_t last) {
                const auto part = [&](float* p) { return floats(p + first, last - first); };
                kernels_.adamw(own, *in(one, 1), part(in(one, 0)), part(out(one, 0)), part(out(one, 1)),
                               part(out(one, 2)));
            });
        }
        default: ASSAY_CHECK(false);
    }
}

}  // namespace assay::trainer
