// SPDX-License-Identifier: Apache-2.0
// The laws of operators whose tiles are computed in one go: each number from a few others.
#include <array>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "contracts/arithmetic/swiglu.hpp"
#include "contracts/dispute/laws.hpp"

namespace assay::dispute {

namespace {
using namespace assay::arithmetic;
using Kind = program::OperatorKind;
using Out = std::span<float>;

void embedding(TileWork& w, Out out) {
    const TileExtent& at = w.at();
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const std::uint64_t row = at.row + i;
        const NumberBlock word = w.in(1, w.input(row), 1, at.col, at.width);
        const Out to = out.subspan(i * at.width, at.width);
        std::copy(word.values.begin(), word.values.end(), to.begin());
        if (w.op().operands.size() == 2) continue;
        const NumberBlock place = w.in(2, row % w.context(), 1, at.col, at.width);
        add(word.values, place.values, to);
    }
}

void sum(TileWork& w, Out out) {
    const NumberBlock a = w.same(0);
    const NumberBlock b = w.same(1);
    add(a.values, b.values, out);
}

void gelu(TileWork& w, Out out) { gelu_forward(w.same(0).values, out); }

void gelu_gradient(TileWork& w, Out out) {
    const NumberBlock x = w.same(0);
    gelu_backward(x.values, w.same(1).values, out);
}

// Gate and up of the columns from `col` on, as rows of both.
std::vector<float> gate_and_up(TileWork& w, std::uint64_t hidden, std::uint64_t col, std::uint64_t cols) {
    const TileExtent& at = w.at();
    const NumberBlock gate = w.in(0, at.row, at.height, col, cols);
    const NumberBlock up = w.in(0, at.row, at.height, hidden + col, cols);
    std::vector<float> out;
    for (std::uint64_t i = 0; i < at.height; ++i) {
        out.insert(out.end(), gate.row(i).begin(), gate.row(i).end());
        out.insert(out.end(), up.row(i).begin(), up.row(i).end());
    }
    return out;
}

void swiglu(TileWork& w, Out out) {
    const TileExtent& at = w.at();
    swiglu_forward(at.width, gate_and_up(w, w.cols(0) / 2, at.col, at.width), out);
}

void swiglu_gradient(TileWork& w, Out out) {
    const TileExtent& at = w.at();
    const std::uint64_t hidden = w.cols(1);
    for (const std::uint64_t half : {std::uint64_t{0}, hidden}) {
        const std::uint64_t first = std::max(at.col, half);
        const std::uint64_t last = std::min(at.col + at.width, half + hidden);
        if (first >= last) continue;
        const std::uint64_t cols = last - first;
        const std::vector<float> x = gate_and_up(w, hidden, first - half, cols);
        const NumberBlock dy = w.in(1, at.row, at.height, first - half, cols);
        std::vector<float> both(x.size());
        swiglu_backward(cols, x, dy.values, both);
        for (std::uint64_t i = 0; i < at.height; ++i) {
            for (std::uint64_t j = 0; j < cols; ++j) {
                out[i * at.width + first - at.col + j] = both[(2 * i + (half == 0 ? 0 : 1)) * cols + j];
            }
        }
    }
}

using Rotation = void (*)(RopeShape shape, RopeTableView table, float* x);

// Pairs are columns i and i + d/2 of a head of d numbers; queries and keys are turned.
template <Rotation turn>
void rotate(TileWork& w, Out out) {
    const TileExtent& at = w.at();
    const std::uint64_t dim = w.model().head_dim();
    const std::uint64_t half = dim / 2;
    const std::uint64_t turned = (w.model().heads + w.model().key_value_heads()) * dim;
    const auto theta = static_cast<double>(w.model().rope_theta.value());
    for (std::uint64_t j = 0; j < at.width && at.col + j < turned; ++j) {
        const std::uint64_t col = at.col + j;
        const std::uint64_t place = col % dim;
        const bool is_first = place < half;
        const NumberBlock own = w.in(0, at.row, at.height, col, 1);
        const NumberBlock other = w.in(0, at.row, at.height, is_first ? col + half : col - half, 1);
        const DoubleWord frequency = rope_frequency(theta, is_first ? place : place - half, half);
        for (std::uint64_t i = 0; i < at.height; ++i) {
            const RopeAngle angle = rope_angle(frequency, (at.row + i) % w.context());
            std::array<float, 2> pair = {is_first ? own.values[i] : other.values[i],
                                         is_first ? other.values[i] : own.values[i]};
            turn({.tokens = 1, .heads = 1, .head_dim = 2, .stride = 2},
                 {std::span(&angle.cos, 1), std::span(&angle.sin, 1)}, pair.data());
            out[i * at.width + j] = pair[is_first ? 0 : 1];
        }
    }
}

Columns turned_columns(const program::ModelConfig& model) {
    return {0, std::uint64_t{model.heads + model.key_value_heads()} * model.head_dim()};
}

// Calls work(i, j) for the numbers of a tile of a head's square whose query sees the key.
template <class Work_>
void each_seen(const TileWork& w, const Work_& work) {
    const TileExtent& at = w.at();
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const std::uint64_t query = head_row(w, at.row + i).query;
        for (std::uint64_t j = 0; j < at.width && at.col + j <= query; ++j) work(i, j);
    }
}

void softmax_exp_tile(TileWork& w, Out out) {
    const NumberBlock scores = w.same(0);
    const NumberBlock max = w.column(1);
    each_seen(w, [&](std::uint64_t i, std::uint64_t j) {
        out[i * w.at().width + j] = exp32(scores.at(i, j) - max.values[i]);
    });
}

void softmax_divide_tile(TileWork& w, Out out) {
    const NumberBlock e = w.same(0);
    const NumberBlock sums = w.column(1);
    each_seen(w, [&](std::uint64_t i, std::uint64_t j) {
        out[i * w.at().width + j] = e.at(i, j) / sums.values[i];
    });
}

void softmax_gradient_tile(TileWork& w, Out out) {
    const NumberBlock dp = w.same(0);
    const NumberBlock p = w.same(1);
    const NumberBlock dot = w.column(2);
    const float scale = attention_scale(w.model().head_dim());
    each_seen(w, [&](std::uint64_t i, std::uint64_t j) {
        out[i * w.at().width + j] = (p.at(i, j) * (dp.at(i, j) - dot.values[i])) * scale;
    });
}

void loss_exp_tile(TileWork& w, Out out) {
    const NumberBlock logits = w.same(0);
    loss_exp(w.at().width, logits.values, w.column(1).values, out);
}

void loss_tokens_tile(TileWork& w, Out out) {
    const NumberBlock max = w.column(1);
    const NumberBlock sums = w.column(2);
    const std::array<std::uint32_t, 1> first = {0};
    for (std::uint64_t i = 0; i < w.at().height; ++i) {
        const std::uint64_t row = w.at().row + i;
        const NumberBlock logit = w.in(0, row, 1, w.target(row), 1);
        loss_tokens(1, logit.values, std::span(max.values).subspan(i, 1),
                    std::span(sums.values).subspan(i, 1), first, out.subspan(i, 1));
    }
}

void loss_gradient_tile(TileWork& w, Out out) {
    const TileExtent& at = w.at();
    const NumberBlock e = w.same(0);
    const NumberBlock sums = w.column(1);
    // A target outside of the tile's columns is one that no column has.
    std::vector<std::uint32_t> targets;
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const std::uint64_t target = w.target(at.row + i);
        targets.push_back(target < at.col || target - at.col >= at.width
                              ? UINT32_MAX
                              : static_cast<std::uint32_t>(target - at.col));
    }
    loss_gradient(at.width, reciprocal(w.facts().tokens()), e.values, sums.values, targets, out);
}

void clip(TileWork& w, Out out) { out[0] = clip_scale(w.scalar(0), w.facts().program->clip_norm); }

void adamw_tile(TileWork& w, Out out) {
    AdamWCoefficients own = w.facts().coefficients;
    if (!w.facts().program->parameters[w.op().operands[2]].decays()) own.decay = 0.0F;
    const NumberBlock gradient = w.same(0);
    const float scale = w.scalar(1);
    std::array<NumberBlock, 3> state = {w.same(2), w.same(3), w.same(4)};
    adamw(own, scale, gradient.values, state[0].values, state[1].values, state[2].values);
    std::copy(state[w.output()].values.begin(), state[w.output()].values.end(), out.begin());
}

constexpr std::array kElementRows = {
    PartialRow{Kind::kEmbedding, one_partial<embedding>},
    PartialRow{Kind::kRope, one_partial<rotate<rope_forward>>, turned_columns},
    PartialRow{Kind::kSoftmaxExp, one_partial<softmax_exp_tile>, nullptr, true},
    PartialRow{Kind::kSoftmaxDivide, one_partial<softmax_divide_tile>, nullptr, true},
    PartialRow{Kind::kGelu, one_partial<gelu>},
    PartialRow{Kind::kSwiGlu, one_partial<swiglu>},
    PartialRow{Kind::kAdd, one_partial<sum>},
    PartialRow{Kind::kLossExp, one_partial<loss_exp_tile>},
    PartialRow{Kind::kLossTokens, one_partial<loss_tokens_tile>},
    PartialRow{Kind::kLossGradient, one_partial<loss_gradient_tile>},
    PartialRow{Kind::kGeluGradient, one_partial<gelu_gradient>},
    PartialRow{Kind::kSwiGluGradient, one_partial<swiglu_gradient>},
    PartialRow{Kind::kRopeGradient, one_partial<rotate<rope_backward>>, turned_columns},
    PartialRow{Kind::kSoftmaxGradient, one_partial<softmax_gradient_tile>, nullptr, true},
    PartialRow{Kind::kTiedGradient, one_partial<sum>},
    PartialRow{Kind::kClip, one_partial<clip>},
    PartialRow{Kind::kAdamW, one_partial<adamw_tile>},
};
}  // namespace

std::span<const PartialRow> element_rows() { return kElementRows; }

}  // namespace assay::dispute
