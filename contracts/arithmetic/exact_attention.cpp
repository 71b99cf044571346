// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/exact_attention.hpp"

#include <algorithm>
#include <vector>

#include "contracts/arithmetic/exact_product.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic::exact {

namespace {
constexpr ProductRule kOneBlock{2, 2, kMaxProductBlock};
constexpr ProductRule kTokenBlocks{2, 2, kAttentionBlock};

// out[i,j] = (product of a[i,·] and b[j,·]) · scale, for j <= i. A multiplication by 1 changes nothing.
void lower_products(HeadShape shape, HeadView a, HeadView b, float scale, std::span<float> out) {
    const std::uint64_t tokens = shape.tokens;
    ASSAY_CHECK(out.size() == tokens * tokens && shape.head_dim <= kMaxProductBlock);
    for (std::uint64_t i0 = 0; i0 < tokens; i0 += kAttentionBlock) {
        const std::uint64_t rows = std::min(kAttentionBlock, tokens - i0);
        const std::uint64_t columns = i0 + rows;
        std::vector<float> square(rows * columns);
        exact_product({rows, columns, shape.head_dim}, kOneBlock, {a.data + i0 * a.stride, a.stride, 1},
                      {b.data, 1, b.stride}, ChainStart::kZero, square.data(), columns);
        for (std::uint64_t i = 0; i < rows; ++i) {
            for (std::uint64_t j = 0; j <= i0 + i; ++j) {
                out[(i0 + i) * tokens + j] = square[i * columns + j] * scale;
            }
        }
    }
}

// out[i,c] = product of m[i,0…i] and x[0…i,c]. Rows of one block of tokens go together: what the mask takes
// away of their last block is a zero, which changes neither a maximum nor a sum.
void rows_times(HeadShape shape, std::span<const float> m, HeadView x, HeadOut out) {
    const std::uint64_t tokens = shape.tokens;
    ASSAY_CHECK(m.size() == tokens * tokens);
    for (std::uint64_t i0 = 0; i0 < tokens; i0 += kAttentionBlock) {
        const std::uint64_t rows = std::min(kAttentionBlock, tokens - i0);
        const std::uint64_t depth = i0 + rows;
        std::vector<float> masked(rows * depth, 0.0F);
        for (std::uint64_t i = 0; i < rows; ++i) {
            for (std::uint64_t j = 0; j <= i0 + i; ++j) masked[i * depth + j] = m[(i0 + i) * tokens + j];
        }
        exact_product({rows, shape.head_dim, depth}, kTokenBlocks, {masked.data(), depth, 1},
                      {x.data, x.stride, 1}, ChainStart::kZero, out.data + i0 * out.stride, out.stride);
    }
}

// out[j,c] = or += product of m[j…T−1,j] and x[j…T−1,c], by the same grouping.
void columns_times(HeadShape shape, std::span<const float> m, HeadView x, HeadOut out, ChainStart start) {
    const std::uint64_t tokens = shape.tokens;
    ASSAY_CHECK(m.size() == tokens * tokens);
    for (std::uint64_t j0 = 0; j0 < tokens; j0 += kAttentionBlock) {
        const std::uint64_t columns = std::min(kAttentionBlock, tokens - j0);
        const std::uint64_t depth = tokens - j0;
        std::vector<float> masked(columns * depth, 0.0F);
        for (std::uint64_t j = 0; j < columns; ++j) {
            for (std::uint64_t i = j; i < depth; ++i) {
                masked[j * depth + i] = m[(j0 + i) * tokens + j0 + j];
            }
        }
        exact_product({columns, shape.head_dim, depth}, kTokenBlocks, {masked.data(), depth, 1},
                      {x.data + j0 * x.stride, x.stride, 1}, start, out.data + j0 * out.stride, out.stride);
    }
}
}  // namespace

void attention_scores(HeadShape shape, HeadView q, HeadView k, std::span<float> scores) {
    lower_products(shape, q, k, attention_scale(shape.head_dim), scores);
}

void attention_values(HeadShape shape, std::span<const float> p, HeadView v, HeadOut o) {
    rows_times(shape, p, v, o);
}

void attention_probability_gradient(HeadShape shape, HeadView d_o, HeadView v, std::span<float> dp) {
    lower_products(shape, d_o, v, 1.0F, dp);
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

}  // namespace assay::arithmetic::exact
