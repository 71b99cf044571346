// SPDX-License-Identifier: Apache-2.0
// Defines, for reference machine and kernels, causal attention of ONE head of ONE sequence. Query i sees
// the keys j <= i; masked terms are skipped, never added; entries above the diagonal of a [T,T] matrix are
// neither read nor written. q, k, v and their gradients are strided views into rows of queries, keys and
// values (H query heads, K key heads, K value heads of d numbers each); the output o into rows of width.
// Query head h reads the keys and values of group g = h / (H/K); with K = H every head has its own. The
// gradients of a group's keys and values are one chain over its query heads, ascending: the first starts
// at +0, the others go on from what it holds.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/arithmetic/matrix.hpp"

namespace assay::arithmetic {

/// `tokens` rows of `head_dim` numbers, `stride` floats apart; data[t·stride + c].
struct HeadView {
    const float* data = nullptr;
    std::uint64_t stride = 0;
};
struct HeadOut {
    float* data = nullptr;
    std::uint64_t stride = 0;
};
struct HeadShape {
    std::uint64_t tokens = 0;    ///< T
    std::uint64_t head_dim = 0;  ///< d
};

/// 1 / sqrt(d), two roundings.
float attention_scale(std::uint64_t head_dim);

/// scores[i,j] = (chain over c of fma(q[i,c], k[j,c], ·)) · scale, for j <= i. scores is [T,T].
void attention_scores(HeadShape shape, HeadView q, HeadView k, std::span<float> scores);

/// Softmax of row i over its keys 0…i, in four operators, so that a dispute can name one:
/// max[i] = the largest score; e[i,j] = exp32(scores[i,j] − max[i]);
void softmax_max(std::uint64_t tokens, std::span<const float> scores, std::span<float> max);
void softmax_exp(std::uint64_t tokens, std::span<const float> scores, std::span<const float> max,
                 std::span<float> e);
/// sum[i] = lane_sum(e[i,0…i]); p[i,j] = e[i,j] / sum[i].
void softmax_sum(std::uint64_t tokens, std::span<const float> e, std::span<float> sum);
void softmax_divide(std::uint64_t tokens, std::span<const float> e, std::span<const float> sum,
                    std::span<float> p);

/// o[i,c] = chain over j = 0…i of fma(p[i,j], v[j,c], ·).
void attention_values(HeadShape shape, std::span<const float> p, HeadView v, HeadOut o);

/// dp[i,j] = chain over c of fma(dO[i,c], v[j,c], ·), for j <= i.
void attention_probability_gradient(HeadShape shape, HeadView d_o, HeadView v, std::span<float> dp);
/// dot[i] = lane_dot(dp[i,0…i], p[i,0…i]).
void softmax_dot(std::uint64_t tokens, std::span<const float> dp, std::span<const float> p,
                 std::span<float> dot);
/// ds[i,j] = (p[i,j] · (dp[i,j] − dot[i])) · scale. `ds` may be `dp`.
void softmax_gradient(HeadShape shape, std::span<const float> dp, std::span<const float> p,
                      std::span<const float> dot, std::span<float> ds);
/// dq[i,c] = chain over j = 0…i of fma(ds[i,j], k[j,c], ·).
void attention_query_gradient(HeadShape shape, std::span<const float> ds, HeadView k, HeadOut dq);
/// dk[j,c] = chain over i = j…T−1 of fma(ds[i,j], q[i,c], ·), from `start`.
void attention_key_gradient(HeadShape shape, std::span<const float> ds, HeadView q, HeadOut dk,
                            ChainStart start);
/// dv[j,c] = chain over i = j…T−1 of fma(p[i,j], dO[i,c], ·), from `start`.
void attention_value_gradient(HeadShape shape, std::span<const float> p, HeadView d_o, HeadOut dv,
                              ChainStart start);

}  // namespace assay::arithmetic
