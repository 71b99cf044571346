// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/attention.hpp"

#include <cmath>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {
// The chain over c of fma(a[i,c], b[j,c], ·).
float dot_chain(HeadShape shape, HeadView a, std::uint64_t i, HeadView b, std::uint64_t j) {
    float sum = 0.0F;
    for (std::uint64_t c = 0; c < shape.head_dim; ++c) {
        sum = fma32(a.data[i * a.stride + c], b.data[j * b.stride + c], sum);
    }
    return sum;
}

// out[i,c] = chain over j = 0…i of fma(m[i,j], x[j,c], ·).
void rows_times(HeadShape shape, std::span<const float> m, HeadView x, HeadOut out) {
    ASSAY_CHECK(m.size() == shape.tokens * shape.tokens);
    for (std::uint64_t i = 0; i < shape.tokens; ++i) {
        for (std::uint64_t c = 0; c < shape.head_dim; ++c) {
            float sum = 0.0F;
            for (std::uint64_t j = 0; j <= i; ++j) {
                sum = fma32(m[i * shape.tokens + j], x.data[j * x.stride + c], sum);
            }
            out.data[i * out.stride + c] = sum;
        }
    }
}

// out[j,c] = chain over i = j…T−1 of fma(m[i,j], x[i,c], ·), from `start`.
void columns_times(HeadShape shape, std::span<const float> m, HeadView x, HeadOut out, ChainStart start) {
    ASSAY_CHECK(m.size() == shape.tokens * shape.tokens);
    for (std::uint64_t j = 0; j < shape.tokens; ++j) {
        for (std::uint64_t c = 0; c < shape.head_dim; ++c) {
            float sum = start == ChainStart::kCarry ? out.data[j * out.stride + c] : 0.0F;
            for (std::uint64_t i = j; i < shape.tokens; ++i) {
                sum = fma32(m[i * shape.tokens + j], x.data[i * x.stride + c], sum);
            }
            out.data[j * out.stride + c] = sum;
        }
    }
}
}  // namespace

float attention_scale(std::uint64_t head_dim) { return rsqrt32(static_cast<float>(head_dim)); }

void attention_scores(HeadShape shape, HeadView q, HeadView k, std::span<float> scores) {
    ASSAY_CHECK(scores.size() == shape.tokens * shape.tokens);
    const float scale = attention_scale(shape.head_dim);
    for (std::uint64_t i = 0; i < shape.tokens; ++i) {
        for (std::uint64_t j = 0; j <= i; ++j) {
            scores[i * shape.tokens + j] = dot_chain(shape, q, i, k, j) * scale;
        }
    }
}

void softmax_max(std::uint64_t tokens, std::span<const float> scores, std::span<float> max) {
    ASSAY_CHECK(scores.size() == tokens * tokens && max.size() == tokens);
    for (std::uint64_t i = 0; i < tokens; ++i) {
        const auto row = scores.subspan(i * tokens, i + 1);
        max[i] = row[max_index(row)];
    }
}

void softmax_exp(std::uint64_t tokens, std::span<const float> scores, std::span<const float> max,
                 std::span<float> e) {
    ASSAY_CHECK(scores.size() == tokens * tokens && max.size() == tokens && e.size() == scores.size());
    for (std::uint64_t i = 0; i < tokens; ++i) {
        for (std::uint64_t j = 0; j <= i; ++j) e[i * tokens + j] = exp32(scores[i * tokens + j] - max[i]);
    }
}

void softmax_sum(std::uint64_t tokens, std::span<const float> e, std::span<float> sum) {
    ASSAY_CHECK(e.size() == tokens * tokens && sum.size() == tokens);
    for (std::uint64_t i = 0; i < tokens; ++i) sum[i] = lane_sum(e.subspan(i * tokens, i + 1));
}

void softmax_divide(std::uint64_t tokens, std::span<const float> e, std::span<const float> sum,
                    std::span<float> p) {
    ASSAY_CHECK(e.size() == tokens * tokens && sum.size() == tokens && p.size() == e.size());
    for (std::uint64_t i = 0; i < tokens; ++i) {
        for (std::uint64_t j = 0; j <= i; ++j) p[i * tokens + j] = e[i * tokens + j] / sum[i];
    }
}

void attention_values(HeadShape shape, std::span<const float> p, HeadView v, HeadOut o) {
    rows_times(shape, p, v, o);
}

void attention_probability_gradient(HeadShape shape, HeadView d_o, HeadView v, std::span<float> dp) {
    ASSAY_CHECK(dp.size() == shape.tokens * shape.tokens);
    for (std::uint64_t i = 0; i < shape.tokens; ++i) {
        for (std::uint64_t j = 0; j <= i; ++j) dp[i * shape.tokens + j] = dot_chain(shape, d_o, i, v, j);
    }
}

void softmax_dot(std::uint64_t tokens, std::span<const float> dp, std::span<const float> p,
                 std::span<float> dot) {
    ASSAY_CHECK(dp.size() == tokens * tokens && p.size() == dp.size() && dot.size() == tokens);
    for (std::uint64_t i = 0; i < tokens; ++i) {
        dot[i] = lane_dot(dp.subspan(i * tokens, i + 1), p.subspan(i * tokens, i + 1));
    }
}

void softmax_gradient(HeadShape shape, std::span<const float> dp, std::span<const float> p,
                      std::span<const float> dot, std::span<float> ds) {
    const std::uint64_t tokens = shape.tokens;
    ASSAY_CHECK(dp.size() == tokens * tokens && p.size() == dp.size() && ds.size() == dp.size() &&
                dot.size() == tokens);
    const float scale = attention_scale(shape.head_dim);
    for (std::uint64_t i = 0; i < tokens; ++i) {
        for (std::uint64_t j = 0; j <= i; ++j) {
            const std::uint64_t at = i * tokens + j;
            ds[at] = (p[at] * (dp[at] - dot[i])) * scale;
        }
    }
}

void attention_query_gradient(HeadShape shape, std::span<const float> ds, HeadView k, HeadOut dq) {
    rows_times(shape, ds, k, dq);
}

void attention_key_gradient(HeadShape shape, std::span<const float> ds, HeadView q, HeadOut dk,
                            ChainStart start) {
    columns_times(shape, ds, q, dk, start);
}

void attention_value_gradient(HeadShape shape, std::span<const float> p, HeadView d_o, HeadOut dv,
                              ChainStart start) {
    columns_times(shape, p, d_o, dv, start);
}

}  // namespace assay::arithmetic
