// SPDX-License-Identifier: Apache-2.0
// Defines token and position embedding for reference machine and kernels; models with rotary positions
// have no position rows.
#pragma once

#include <cstdint>
#include <span>

namespace assay::arithmetic {

/// x[t] = wte[token[t]] + wpe[t] for the tokens of ONE sequence (position = place in the sequence); rows of
/// `width`. REQUIRES every token below the rows of wte and tokens.size() <= rows of wpe.
void embedding_forward(std::uint64_t width, std::span<const std::uint32_t> tokens, std::span<const float> wte,
                       std::span<const float> wpe, std::span<float> x);
/// x[t] = wte[token[t]].
void embedding_forward(std::uint64_t width, std::span<const std::uint32_t> tokens, std::span<const float> wte,
                       std::span<float> x);

/// Of ONE sequence; call once per sequence, in order; dwte and dwpe start at +0 for a step.
/// Token rows: for each token v that occurs, s = chain over its places in ascending order of dx from +0, then
/// dwte[v] = dwte[v] + s; rows of tokens that do not occur are left alone. dwpe[t] = dwpe[t] + dx[t].
void embedding_gradient_carry(std::uint64_t width, std::span<const std::uint32_t> tokens,
                              std::span<const float> dx, std::span<float> dwte, std::span<float> dwpe);
void embedding_gradient_carry(std::uint64_t width, std::span<const std::uint32_t> tokens,
                              std::span<const float> dx, std::span<float> dwte);

}  // namespace assay::arithmetic
