// SPDX-License-Identifier: Apache-2.0
// Defines attention's six products in profile i16 for reference machine and kernels: the rule of
// exact_product.hpp with 2 digits on both sides, under the causal mask. Everything between them (softmax
// and its gradient) is attention.hpp's, in both profiles; so are views, shapes, and which entries are read
// and written.
//
// Sums over the head's numbers c are one block. Sums over tokens are cut at multiples of kAttentionBlock in
// the token's index, so a row's bits depend on no token beyond its block. A masked entry (j > i) counts as
// integer zero and takes no part in a maximum; the other operand's maximum is over all tokens of the block.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/matrix.hpp"
#include "contracts/arithmetic/product_rule.hpp"

namespace assay::arithmetic::exact {

/// scores[i,j] = (product of q[i,·] and k[j,·]) · scale, for j <= i.
void attention_scores(HeadShape shape, HeadView q, HeadView k, std::span<float> scores);

/// o[i,c] = product of p[i,0…i] and v[0…i,c].
void attention_values(HeadShape shape, std::span<const float> p, HeadView v, HeadOut o);

/// dp[i,j] = product of dO[i,·] and v[j,·], for j <= i.
void attention_probability_gradient(HeadShape shape, HeadView d_o, HeadView v, std::span<float> dp);

/// dq[i,c] = product of ds[i,0…i] and k[0…i,c].
void attention_query_gradient(HeadShape shape, std::span<const float> ds, HeadView k, HeadOut dq);

/// dk[j,c] = product of ds[j…T−1,j] and q[j…T−1,c]; dv[j,c] = product of p[j…T−1,j] and dO[j…T−1,c].
/// kCarry adds to what they hold: of a group of query heads each after the first.
void attention_key_gradient(HeadShape shape, std::span<const float> ds, HeadView q, HeadOut dk,
                            ChainStart start = ChainStart::kZero);
void attention_value_gradient(HeadShape shape, std::span<const float> p, HeadView d_o, HeadOut dv,
                              ChainStart start = ChainStart::kZero);

}  // namespace assay::arithmetic::exact
