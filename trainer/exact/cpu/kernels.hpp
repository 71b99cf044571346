// SPDX-License-Identifier: Apache-2.0
// The kernels of a target as a table of functions: each has the bits of its definition in
// contracts/arithmetic, whose signatures they take wherever possible. All run on the calling thread; whoever
// calls them splits the outputs over threads.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/matrix.hpp"
#include "contracts/arithmetic/optimizer.hpp"
#include "trainer/targets.hpp"

namespace assay::trainer {

using arithmetic::ChainStart;
using arithmetic::MatrixView;

/// c[m,n] = chain over k ascending of fma(a[m,k], b[k,n], c), from +0 or from what c holds; c is row-major.
struct Product {
    std::uint64_t m = 0;
    std::uint64_t n = 0;
    std::uint64_t k = 0;
    MatrixView a;
    MatrixView b;
    float* c = nullptr;
    std::uint64_t c_stride = 0;
    ChainStart start = ChainStart::kZero;
};

/// Columns [0, cols) of matrices whose rows are `stride` floats apart: one thread's share of a column chain.
struct ColumnShape {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t stride = 0;
};

struct Kernels {
    using Floats = std::span<float>;
    using View = std::span<const float>;
    using Tokens = std::span<const std::uint32_t>;

    void (*product)(const Product&);
    void (*add_bias)(View bias, Floats y);
    /// db[j] += chain over the rows of ONE sequence.
    void (*bias_gradient)(ColumnShape, const float* dy, float* db);

    void (*layer_norm_forward)(View x, View gain, View bias, Floats y, arithmetic::LayerNormRows);
    void (*layer_norm_input_gradient)(View dy, View x, View gain, arithmetic::LayerNormRowsView, Floats dx);
    /// The rows of ONE sequence, into dgain and dbias.
    void (*layer_norm_parameter_gradient)(ColumnShape, const float* dy, const float* x,
                                          arithmetic::LayerNormRowsView, float* dgain, float* dbias);

    void (*attention_scores)(arithmetic::HeadShape, arithmetic::HeadView q, arithmetic::HeadView k, Floats);
    void (*softmax_max)(std::uint64_t, View, Floats);
    void (*softmax_exp)(std::uint64_t, View, View, Floats);
    void (*softmax_sum)(std::uint64_t, View, Floats);
    void (*softmax_divide)(std::uint64_t, View, View, Floats);
    void (*attention_values)(arithmetic::HeadShape, View p, arithmetic::HeadView v, arithmetic::HeadOut o);
    void (*attention_probability_gradient)(arithmetic::HeadShape, arithmetic::HeadView d_o,
                                           arithmetic::HeadView v, Floats dp);
    void (*softmax_dot)(std::uint64_t, View dp, View p, Floats dot);
    void (*softmax_gradient)(arithmetic::HeadShape, View dp, View p, View dot, Floats ds);
    void (*attention_query_gradient)(arithmetic::HeadShape, View ds, arithmetic::HeadView k,
                                     arithmetic::HeadOut dq);
    void (*attention_key_gradient)(arithmetic::HeadShape, View ds, arithmetic::HeadView q,
                                   arithmetic::HeadOut dk);
    void (*attention_value_gradient)(arithmetic::HeadShape, View p, arithmetic::HeadView d_o,
                                     arithmetic::HeadOut dv);

    void (*gelu_forward)(View x, Floats y);
    void (*gelu_backward)(View x, View dy, Floats dx);
    void (*add)(View a, View b, Floats y);

    void (*loss_max)(std::uint64_t, View, Floats);
    void (*loss_exp)(std::uint64_t, View, View, Floats);
    void (*loss_sum)(std::uint64_t, View, Floats);
    void (*loss_gradient)(std::uint64_t, float r, View e, View sum, Tokens targets, Floats dlogits);

    void (*square_tiles)(std::uint64_t rows, std::uint64_t cols, View g, Floats sums);
    void (*adamw)(const arithmetic::AdamWCoefficients&, float clip, View g, Floats w, Floats m, Floats v);
    bool (*all_finite)(View x);
};

/// The table of `target`. REQUIRES a target that this machine has (targets.hpp).
const Kernels& kernels(Target target);

}  // namespace assay::trainer
