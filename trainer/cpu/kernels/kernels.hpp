// SPDX-License-Identifier: Apache-2.0
// Kernels is the table of a target's kernels that both profiles share; products.hpp has the others. Each
// kernel has the bits of its definition in contracts/arithmetic, and where possible its signature. All run on
// the calling thread; the caller splits the outputs over threads.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "contracts/arithmetic/update.hpp"
#include "contracts/base/hash.hpp"
#include "trainer/cpu/kernels/products.hpp"
#include "trainer/host/targets.hpp"

namespace assay::trainer {

/// One thread's share of a chain down columns: columns [0, cols) of matrices whose rows are `stride` floats
/// apart.
struct ColumnShape {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t stride = 0;
};

/// Each returns whether every number that it wrote is finite, except `largest` and `hash_batch`, which write
/// no floats.
struct Kernels {
    using Floats = std::span<float>;
    using View = std::span<const float>;
    using Tokens = std::span<const std::uint32_t>;

    bool (*add_bias)(View bias, Floats y);
    /// db[j] += chain over the rows of ONE sequence.
    bool (*bias_gradient)(ColumnShape, const float* dy, float* db);

    bool (*layer_norm_forward)(View x, View gain, View bias, Floats y, arithmetic::LayerNormRows);
    bool (*layer_norm_input_gradient)(View dy, View x, View gain, arithmetic::LayerNormRowsView, Floats dx);
    /// Adds the rows of ONE sequence to dgain and dbias.
    bool (*layer_norm_parameter_gradient)(ColumnShape, const float* dy, const float* x,
                                          arithmetic::LayerNormRowsView, float* dgain, float* dbias);

    bool (*softmax_max)(std::uint64_t, View, Floats);
    bool (*softmax_exp)(std::uint64_t, View, View, Floats);
    bool (*softmax_sum)(std::uint64_t, View, Floats);
    bool (*softmax_divide)(std::uint64_t, View, View, Floats);
    bool (*softmax_dot)(std::uint64_t, View dp, View p, Floats dot);
    bool (*softmax_gradient)(arithmetic::HeadShape, View dp, View p, View dot, Floats ds);
    /// The four operators of the forward pass in one: `scores` becomes p.
    bool (*softmax)(std::uint64_t, Floats scores, Floats max, Floats sum);
    /// Makes p again from scores and from the max and sum of softmax(): `scores` becomes p.
    bool (*softmax_again)(std::uint64_t, Floats scores, View max, View sum);
    /// The two operators of the backward pass in one: `dp` becomes ds.
    bool (*softmax_backward)(arithmetic::HeadShape, Floats dp, View p);

    bool (*gelu_forward)(View x, Floats y);
    bool (*gelu_backward)(View x, View dy, Floats dx);
    bool (*add)(View a, View b, Floats y);

    bool (*loss_max)(std::uint64_t, View, Floats);
    bool (*loss_exp)(std::uint64_t, View, View, Floats);
    bool (*loss_sum)(std::uint64_t, View, Floats);
    bool (*loss_gradient)(std::uint64_t, float r, View e, View sum, Tokens targets, Floats dlogits);
    /// Max, exp, sum, the tokens' losses and the gradient in one, row by row: `logits` becomes dlogits.
    bool (*loss_rows)(std::uint64_t, float r, Tokens targets, Floats logits, Floats loss);
    /// The same without the gradient: `logits` becomes e.
    bool (*loss_rows_forward)(std::uint64_t, Tokens targets, Floats logits, Floats loss);

    bool (*square_tiles)(std::uint64_t rows, std::uint64_t cols, View g, Floats sums);
    bool (*adamw)(const arithmetic::AdamWCoefficients&, float clip, View g, Floats w, Floats m, Floats v);
    /// For merges: changes parameters and momentum in place.
    bool (*outer_nesterov)(arithmetic::OuterCoefficients, View g, Floats w, Floats m);
    bool (*all_finite)(View x);
    /// Largest magnitudes, as bits without the sign, of a matrix x whose rows are `stride` floats apart. Sets
    /// row[i] to that of row i, and raises column[j] to that of column j. A NaN counts as the largest.
    void (*largest)(ColumnShape, const float* x, std::int32_t* row, std::int32_t* column);
    /// Whether (bits & mask) <= limit for the bits of every element, as unsigned numbers.
    bool (*bounded)(View x, std::uint32_t mask, std::uint32_t limit);

    bool (*rms_norm_forward)(float epsilon, View x, View gain, Floats y, Floats rstd);
    bool (*rms_norm_input_gradient)(View dy, View x, View gain, View rstd, Floats dx);
    /// Adds the rows of ONE sequence to dgain.
    bool (*rms_norm_parameter_gradient)(ColumnShape, const float* dy, const float* x, View rstd,
                                        float* dgain);
    bool (*rope_forward)(arithmetic::RopeShape, arithmetic::RopeTableView, float* x);
    bool (*rope_backward)(arithmetic::RopeShape, arithmetic::RopeTableView, float* dx);
    bool (*swiglu_forward)(std::uint64_t hidden, View x, Floats y);
    bool (*swiglu_backward)(std::uint64_t hidden, View x, View dy, Floats dx);

    /// The digests of hash_one_by_one, several messages at a time, for roots of states and updates.
    base::BatchHash hash_batch;
};

/// The table of `target`. REQUIRES a target that this machine has (targets.hpp).
const Kernels& kernels(Target target);

}  // namespace assay::trainer
