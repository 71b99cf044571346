// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/kernels/scalar_kernels.hpp"

#include <algorithm>
#include <bit>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/arithmetic/rms_norm.hpp"
#include "contracts/arithmetic/swiglu.hpp"

namespace assay::trainer {

namespace {
using arithmetic::all_finite;
using Floats = Kernels::Floats;
using View = Kernels::View;
using Tokens = Kernels::Tokens;

bool finite_triangle(std::uint64_t tokens, View square) {
    bool good = true;
    for (std::uint64_t i = 0; i < tokens; ++i) {
        good = all_finite(square.subspan(i * tokens, i + 1)) && good;
    }
    return good;
}

bool add_bias(View bias, Floats y) {
    arithmetic::add_bias(bias, y);
    return all_finite(y);
}
bool bias_gradient(ColumnShape shape, const float* dy, float* db) {
    for (std::uint64_t j = 0; j < shape.cols; ++j) {
        float sum = 0.0F;
        for (std::uint64_t t = 0; t < shape.rows; ++t) sum = sum + dy[t * shape.stride + j];
        db[j] = db[j] + sum;
    }
    return all_finite({db, shape.cols});
}

bool layer_norm_forward(View x, View gain, View bias, Floats y, arithmetic::LayerNormRows rows) {
    arithmetic::layer_norm_forward(x, gain, bias, y, rows);
    return all_finite(y) && all_finite(rows.mean) && all_finite(rows.rstd);
}
bool layer_norm_input_gradient(View dy, View x, View gain, arithmetic::LayerNormRowsView rows, Floats dx) {
    arithmetic::layer_norm_input_gradient(dy, x, gain, rows, dx);
    return all_finite(dx);
}
bool layer_norm_parameter_gradient(ColumnShape shape, const float* dy, const float* x,
                                   arithmetic::LayerNormRowsView rows, float* dgain, float* dbias) {
    for (std::uint64_t j = 0; j < shape.cols; ++j) {
        float gain = 0.0F;
        float bias = 0.0F;
        for (std::uint64_t t = 0; t < shape.rows; ++t) {
            const std::uint64_t at = t * shape.stride + j;
            gain = arithmetic::fma32(dy[at], (x[at] - rows.mean[t]) * rows.rstd[t], gain);
            bias = bias + dy[at];
        }
        dgain[j] = dgain[j] + gain;
        dbias[j] = dbias[j] + bias;
    }
    return all_finite({dgain, shape.cols}) && all_finite({dbias, shape.cols});
}

bool softmax_max(std::uint64_t n, View scores, Floats max) {
    arithmetic::softmax_max(n, scores, max);
    return all_finite(max);
}
bool softmax_exp(std::uint64_t n, View scores, View max, Floats e) {
    arithmetic::softmax_exp(n, scores, max, e);
    return finite_triangle(n, e);
}
bool softmax_sum(std::uint64_t n, View e, Floats sum) {
    arithmetic::softmax_sum(n, e, sum);
    return all_finite(sum);
}
bool softmax_divide(std::uint64_t n, View e, View sum, Floats p) {
    arithmetic::softmax_divide(n, e, sum, p);
    return finite_triangle(n, p);
}
bool softmax_dot(std::uint64_t n, View dp, View p, Floats dot) {
    arithmetic::softmax_dot(n, dp, p, dot);
    return all_finite(dot);
}
bool softmax_gradient(arithmetic::HeadShape shape, View dp, View p, View dot, Floats ds) {
    arithmetic::softmax_gradient(shape, dp, p, dot, ds);
    return finite_triangle(shape.tokens, ds);
}
bool softmax(std::uint64_t n, Floats scores, Floats max, Floats sum) {
    const bool found = softmax_max(n, scores, max);
    const bool raised = softmax_exp(n, scores, max, scores);
    const bool summed = softmax_sum(n, scores, sum);
    return softmax_divide(n, scores, sum, scores) && found && raised && summed;
}
bool softmax_again(std::uint64_t n, Floats scores, View max, View sum) {
    const bool raised = softmax_exp(n, scores, max, scores);
    return softmax_divide(n, scores, sum, scores) && raised;
}
bool softmax_backward(arithmetic::HeadShape shape, Floats dp, View p) {
    const float scale = arithmetic::attention_scale(shape.head_dim);
    bool good = true;
    for (std::uint64_t i = 0; i < shape.tokens; ++i) {
        const Floats row = dp.subspan(i * shape.tokens, i + 1);
        const View weights = p.subspan(i * shape.tokens, i + 1);
        const float dot = arithmetic::lane_dot(row, weights);
        for (std::uint64_t j = 0; j <= i; ++j) row[j] = (weights[j] * (row[j] - dot)) * scale;
        good = all_finite(row) && all_finite({&dot, 1}) && good;
    }
    return good;
}

bool gelu_forward(View x, Floats y) {
    arithmetic::gelu_forward(x, y);
    return all_finite(y);
}
bool gelu_backward(View x, View dy, Floats dx) {
    arithmetic::gelu_backward(x, dy, dx);
    return all_finite(dx);
}
bool add(View a, View b, Floats y) {
    arithmetic::add(a, b, y);
    return all_finite(y);
}

bool loss_max(std::uint64_t vocabulary, View logits, Floats max) {
    arithmetic::loss_max(vocabulary, logits, max);
    return all_finite(max);
}
bool loss_exp(std::uint64_t vocabulary, View logits, View max, Floats e) {
    arithmetic::loss_exp(vocabulary, logits, max, e);
    return all_finite(e);
}
bool loss_sum(std::uint64_t vocabulary, View e, Floats sum) {
    arithmetic::loss_sum(vocabulary, e, sum);
    return all_finite(sum);
}
bool loss_gradient(std::uint64_t vocabulary, float r, View e, View sum, Tokens targets, Floats dlogits) {
    arithmetic::loss_gradient(vocabulary, r, e, sum, targets, dlogits);
    return all_finite(dlogits);
}
// One row; sum is written.
bool loss_row_forward(std::uint64_t vocabulary, Tokens target, Floats logits, Floats sum, Floats loss) {
    float max = 0;
    const bool found = loss_max(vocabulary, logits, {&max, 1});
    const float at_target = logits[target[0]];
    const bool raised = loss_exp(vocabulary, logits, {&max, 1}, logits);
    const bool summed = loss_sum(vocabulary, logits, sum);
    loss[0] = arithmetic::log32(sum[0]) - (at_target - max);
    return all_finite(loss) && found && raised && summed;
}
bool loss_rows(std::uint64_t vocabulary, float r, Tokens targets, Floats logits, Floats loss) {
    bool good = true;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        const Floats row = logits.subspan(t * vocabulary, vocabulary);
        const Tokens target = targets.subspan(t, 1);
        float sum = 0;
        good = loss_row_forward(vocabulary, target, row, {&sum, 1}, loss.subspan(t, 1)) && good;
        good = loss_gradient(vocabulary, r, row, {&sum, 1}, target, row) && good;
    }
    return good;
}
bool loss_rows_forward(std::uint64_t vocabulary, Tokens targets, Floats logits, Floats loss) {
    bool good = true;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        float sum = 0;
        good = loss_row_forward(vocabulary, targets.subspan(t, 1), logits.subspan(t * vocabulary, vocabulary),
                                {&sum, 1}, loss.subspan(t, 1)) &&
               good;
    }
    return good;
}

bool square_tiles(std::uint64_t rows, std::uint64_t cols, View g, Floats sums) {
    arithmetic::square_tiles(rows, cols, g, sums);
    return all_finite(sums);
}
bool adamw(const arithmetic::AdamWCoefficients& c, float clip, View g, Floats w, Floats m, Floats v) {
    arithmetic::adamw(c, clip, g, w, m, v);
    return all_finite(w) && all_finite(m) && all_finite(v);
}
bool outer_nesterov(arithmetic::OuterCoefficients c, View g, Floats w, Floats m) {
    arithmetic::outer_nesterov(c, g, w, m);
    return all_finite(w) && all_finite(m);
}
void largest(ColumnShape shape, const float* x, std::int32_t* row, std::int32_t* column) {
    for (std::uint64_t i = 0; i < shape.rows; ++i) {
        row[i] = 0;
        for (std::uint64_t j = 0; j < shape.cols; ++j) {
            const auto bits = std::bit_cast<std::int32_t>(x[i * shape.stride + j]) & 0x7fffffff;
            row[i] = std::max(row[i], bits);
            column[j] = std::max(column[j], bits);
        }
    }
}
bool bounded(View x, std::uint32_t mask, std::uint32_t limit) {
    bool good = true;
    for (const float value : x) good = (std::bit_cast<std::uint32_t>(value) & mask) <= limit && good;
    return good;
}

bool rms_norm_forward(float epsilon, View x, View gain, Floats y, Floats rstd) {
    arithmetic::rms_norm_forward(epsilon, x, gain, y, rstd);
    return all_finite(y) && all_finite(rstd);
}
bool rms_norm_input_gradient(View dy, View x, View gain, View rstd, Floats dx) {
    arithmetic::rms_norm_input_gradient(dy, x, gain, rstd, dx);
    return all_finite(dx);
}
bool rms_norm_parameter_gradient(ColumnShape shape, const float* dy, const float* x, View rstd,
                                 float* dgain) {
    for (std::uint64_t j = 0; j < shape.cols; ++j) {
        float gain = 0.0F;
        for (std::uint64_t t = 0; t < shape.rows; ++t) {
            const std::uint64_t at = t * shape.stride + j;
            gain = arithmetic::fma32(dy[at], x[at] * rstd[t], gain);
        }
        dgain[j] = dgain[j] + gain;
    }
    return all_finite({dgain, shape.cols});
}
bool finite_turned(arithmetic::RopeShape shape, const float* x) {
    bool good = true;
    for (std::uint64_t t = 0; t < shape.tokens; ++t) {
        good = all_finite({x + t * shape.stride, shape.heads * shape.head_dim}) && good;
    }
    return good;
}
bool rope_forward(arithmetic::RopeShape shape, arithmetic::RopeTableView table, float* x) {
    arithmetic::rope_forward(shape, table, x);
    return finite_turned(shape, x);
}
bool rope_backward(arithmetic::RopeShape shape, arithmetic::RopeTableView table, float* dx) {
    arithmetic::rope_backward(shape, table, dx);
    return finite_turned(shape, dx);
}
bool swiglu_forward(std::uint64_t hidden, View x, Floats y) {
    arithmetic::swiglu_forward(hidden, x, y);
    return all_finite(y);
}
bool swiglu_backward(std::uint64_t hidden, View x, View dy, Floats dx) {
    arithmetic::swiglu_backward(hidden, x, dy, dx);
    return all_finite(dx);
}
}  // namespace

const Kernels& scalar_kernels() {
    static const Kernels table = {
        .add_bias = add_bias,
        .bias_gradient = bias_gradient,
        .layer_norm_forward = layer_norm_forward,
        .layer_norm_input_gradient = layer_norm_input_gradient,
        .layer_norm_parameter_gradient = layer_norm_parameter_gradient,
        .softmax_max = softmax_max,
        .softmax_exp = softmax_exp,
        .softmax_sum = softmax_sum,
        .softmax_divide = softmax_divide,
        .softmax_dot = softmax_dot,
        .softmax_gradient = softmax_gradient,
        .softmax = softmax,
        .softmax_again = softmax_again,
        .softmax_backward = softmax_backward,
        .gelu_forward = gelu_forward,
        .gelu_backward = gelu_backward,
        .add = add,
        .loss_max = loss_max,
        .loss_exp = loss_exp,
        .loss_sum = loss_sum,
        .loss_gradient = loss_gradient,
        .loss_rows = loss_rows,
        .loss_rows_forward = loss_rows_forward,
        .square_tiles = square_tiles,
        .adamw = adamw,
        .outer_nesterov = outer_nesterov,
        .all_finite = arithmetic::all_finite,
        .largest = largest,
        .bounded = bounded,
        .rms_norm_forward = rms_norm_forward,
        .rms_norm_input_gradient = rms_norm_input_gradient,
        .rms_norm_parameter_gradient = rms_norm_parameter_gradient,
        .rope_forward = rope_forward,
        .rope_backward = rope_backward,
        .swiglu_forward = swiglu_forward,
        .swiglu_backward = swiglu_backward,
        .hash_batch = base::hash_one_by_one,
    };
    return table;
}

}  // namespace assay::trainer
