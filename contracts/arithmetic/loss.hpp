// SPDX-License-Identifier: Apache-2.0
// Defines, for reference machine and kernels, softmax cross-entropy over rows of logits, `vocabulary`
// columns each, in the operators of the program. Row counts are free; rows are tokens in order.
#pragma once

#include <cstdint>
#include <span>

namespace assay::arithmetic {

/// max[t] = the largest logit of the row.
void loss_max(std::uint64_t vocabulary, std::span<const float> logits, std::span<float> max);
/// e[t,v] = exp32(logits[t,v] − max[t]). `e` may be `logits` when no later operator reads the logits.
void loss_exp(std::uint64_t vocabulary, std::span<const float> logits, std::span<const float> max,
              std::span<float> e);
/// sum[t] = lane_sum(e[t]).
void loss_sum(std::uint64_t vocabulary, std::span<const float> e, std::span<float> sum);
/// loss[t] = log32(sum[t]) − (logits[t, target[t]] − max[t]).
void loss_tokens(std::uint64_t vocabulary, std::span<const float> logits, std::span<const float> max,
                 std::span<const float> sum, std::span<const std::uint32_t> targets, std::span<float> loss);
/// total + (chain over the tokens of ONE sequence of loss[t], from +0). Call once per sequence, in order,
/// from total = +0; the step's loss is total · reciprocal(N).
float loss_total_carry(std::span<const float> loss, float total);

/// RN(1/n): the factor of a mean over n target tokens. REQUIRES 1 <= n <= 2^24.
float reciprocal(std::uint64_t n);

/// p = e / sum[t]; dlogits[t,v] = p · r, and at the target (p − 1) · r, with r = reciprocal(N), N the target
/// tokens of the whole step. `dlogits` may be `e`.
void loss_gradient(std::uint64_t vocabulary, float r, std::span<const float> e, std::span<const float> sum,
                   std::span<const std::uint32_t> targets, std::span<float> dlogits);

}  // namespace assay::arithmetic
