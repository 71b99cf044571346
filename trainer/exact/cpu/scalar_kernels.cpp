// SPDX-License-Identifier: Apache-2.0
#include "trainer/exact/cpu/scalar_kernels.hpp"

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/arithmetic/reduce.hpp"

namespace assay::trainer {

namespace {
// One k-chain per output, eight outputs side by side so that the chains hide each other's latency.
[[gnu::always_inline]] inline void product_chains(const Product& p) {
    constexpr std::uint64_t kWide = 8;
    for (std::uint64_t i = 0; i < p.m; ++i) {
        for (std::uint64_t j0 = 0; j0 < p.n; j0 += kWide) {
            const std::uint64_t count = p.n - j0 < kWide ? p.n - j0 : kWide;
            float* c = p.c + i * p.c_stride + j0;
            float sums[kWide] = {};
            for (std::uint64_t j = 0; p.start == ChainStart::kCarry && j < count; ++j) sums[j] = c[j];
            for (std::uint64_t k = 0; k < p.k; ++k) {
                const float a = p.a.data[i * p.a.row_stride + k * p.a.col_stride];
                const float* b = p.b.data + k * p.b.row_stride + j0 * p.b.col_stride;
                if (count == kWide) {
                    for (std::uint64_t j = 0; j < kWide; ++j) {
                        sums[j] = __builtin_fmaf(a, b[j * p.b.col_stride], sums[j]);
                    }
                } else {
                    for (std::uint64_t j = 0; j < count; ++j) {
                        sums[j] = __builtin_fmaf(a, b[j * p.b.col_stride], sums[j]);
                    }
                }
            }
            for (std::uint64_t j = 0; j < count; ++j) c[j] = sums[j];
        }
    }
}

void product(const Product& p) { product_chains(p); }

#if defined(__x86_64__)
// The same loop with the fma instruction in place of the library's fmaf: IEEE-754 fixes the result.
[[gnu::target("fma")]] void product_with_instruction(const Product& p) { product_chains(p); }

bool has_instruction() { return __builtin_cpu_supports("fma") != 0; }
#else
void product_with_instruction(const Product& p) { product_chains(p); }

bool has_instruction() { return false; }
#endif

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
        .product = has_instruction() ? product_with_instruction : product,
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
