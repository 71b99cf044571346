// SPDX-License-Identifier: Apache-2.0
#include "trainer/exact/cpu/scalar_kernels.hpp"

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/arithmetic/reduce.hpp"

namespace assay::trainer {

namespace {
void product(const Product& p) {
    for (std::uint64_t i = 0; i < p.m; ++i) {
        for (std::uint64_t j = 0; j < p.n; ++j) {
            float sum = p.start == ChainStart::kZero ? 0.0F : p.c[i * p.c_stride + j];
            for (std::uint64_t k = 0; k < p.k; ++k) {
                sum = arithmetic::fma32(p.a.data[i * p.a.row_stride + k * p.a.col_stride],
                                        p.b.data[k * p.b.row_stride + j * p.b.col_stride], sum);
            }
            p.c[i * p.c_stride + j] = sum;
        }
    }
}

void bias_gradient(ColumnShape shape, const float* dy, float* db) {
    for (std::uint64_t j = 0; j < shape.cols; ++j) {
        float sum = 0.0F;
        for (std::uint64_t t = 0; t < shape.rows; ++t) sum = sum + dy[t * shape.stride + j];
        db[j] = db[j] + sum;
    }
}

void layer_norm_parameter_gradient(ColumnShape shape, const float* dy, const float* x,
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
}
}  // namespace

const Kernels& scalar_kernels() {
    static const Kernels table = {
        .product = product,
        .add_bias = arithmetic::add_bias,
        .bias_gradient = bias_gradient,
        .layer_norm_forward = arithmetic::layer_norm_forward,
        .layer_norm_input_gradient = arithmetic::layer_norm_input_gradient,
        .layer_norm_parameter_gradient = layer_norm_parameter_gradient,
        .attention_scores = arithmetic::attention_scores,
        .softmax_max = arithmetic::softmax_max,
        .softmax_exp = arithmetic::softmax_exp,
        .softmax_sum = arithmetic::softmax_sum,
        .softmax_divide = arithmetic::softmax_divide,
        .attention_values = arithmetic::attention_values,
        .attention_probability_gradient = arithmetic::attention_probability_gradient,
        .softmax_dot = arithmetic::softmax_dot,
        .softmax_gradient = arithmetic::softmax_gradient,
        .attention_query_gradient = arithmetic::attention_query_gradient,
        .attention_key_gradient = arithmetic::attention_key_gradient,
        .attention_value_gradient = arithmetic::attention_value_gradient,
        .gelu_forward = arithmetic::gelu_forward,
        .gelu_backward = arithmetic::gelu_backward,
        .add = arithmetic::add,
        .loss_max = arithmetic::loss_max,
        .loss_exp = arithmetic::loss_exp,
        .loss_sum = arithmetic::loss_sum,
        .loss_gradient = arithmetic::loss_gradient,
        .square_tiles = arithmetic::square_tiles,
        .adamw = arithmetic::adamw,
        .all_finite = arithmetic::all_finite,
    };
    return table;
}

}  // namespace assay::trainer
