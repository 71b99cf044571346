// SPDX-License-Identifier: Apache-2.0
// Defines, for reference machine and kernels, rotary position embedding (Su et al. 2021) with the pairing
// of transformers' Llama: in a head of d numbers, i and i + d/2 turn together by the angle position ·
// theta^(−2i/d). The cosines and sines are a table, so that the operator itself is exact arithmetic on
// binary32.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/arithmetic/double_word.hpp"

namespace assay::arithmetic {

/// cos[t · d/2 + i] and sin[…] of the angle t · theta^(−2i/d), for t < tokens and i < d/2: the exact value
/// rounded to binary32 once, up to an error of 2^-26 ulp (computed by double_word.hpp). Costs about
/// 200 ns an entry: once per process, not once per step.
/// REQUIRES d even and > 0, 1 <= theta < 2^64, tokens <= 2^31, both spans of tokens · d/2 numbers.
void rope_table(std::uint64_t tokens, std::uint64_t head_dim, double theta, std::span<float> cos,
                std::span<float> sin);

/// theta^(−2i/d) of entry `i` of `half` = d/2, and the entry of position `token`: the numbers of the table,
/// for callers that need few entries. REQUIRES i < half, and what rope_table requires.
DoubleWord rope_frequency(double theta, std::uint64_t i, std::uint64_t half);
struct RopeAngle {
    float cos = 0;
    float sin = 0;
};
RopeAngle rope_angle(DoubleWord frequency, std::uint64_t token);

/// `tokens` rows `stride` floats apart, at positions first, first + 1, …; `heads` heads of d numbers lie one
/// after another at the beginning of a row (queries, then keys: what follows them is left alone).
struct RopeShape {
    std::uint64_t tokens = 0;
    std::uint64_t heads = 0;
    std::uint64_t head_dim = 0;  ///< d
    std::uint64_t stride = 0;
    std::uint64_t first = 0;  ///< position of the first row
};
struct RopeTableView {
    std::span<const float> cos;
    std::span<const float> sin;
};

/// In place, a = x[i], b = x[i + d/2]: x[i] = fma(a, cos, −(b · sin)); x[i + d/2] = fma(b, cos, a · sin).
/// REQUIRES a table of at least first + tokens positions and the same d.
void rope_forward(RopeShape shape, RopeTableView table, float* x);

/// The transpose, in place: dx[i] = fma(a, cos, b · sin); dx[i + d/2] = fma(b, cos, −(a · sin)).
void rope_backward(RopeShape shape, RopeTableView table, float* dx);

}  // namespace assay::arithmetic
