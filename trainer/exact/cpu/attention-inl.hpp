// SPDX-License-Identifier: Apache-2.0
// Attention's products, in blocks of query (or key) rows: what lies wholly below the diagonal goes through
// the matrix product, the triangle on the diagonal term by term. Masked terms are never added, not even as
// zeros (−0 + 0 would change a sign). Included once per target inside its namespace: no guard.

inline constexpr std::size_t kBlockRows = 2 * kMr;

// out[i,j] = chain over c of fma(a[i,c], b[j,c], ·), for j <= i; entries above the diagonal inside a block
// are computed aside and dropped.
inline void lower_products(arithmetic::HeadShape shape, arithmetic::HeadView a, arithmetic::HeadView b,
                           float* out) {
    const std::size_t n = shape.tokens;
    float corner[kBlockRows * kBlockRows];
    for (std::size_t i0 = 0; i0 < n; i0 += kBlockRows) {
        const std::size_t rows = n - i0 < kBlockRows ? n - i0 : kBlockRows;
        Product p{
            rows,         i0, shape.head_dim, {a.data + i0 * a.stride, a.stride, 1}, {b.data, 1, b.stride},
            out + i0 * n, n};
        product_part(p);
        p.n = rows;
        p.b.data = b.data + i0 * b.stride;
        p.c = corner;
        p.c_stride = kBlockRows;
        product_part(p);
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j <= i; ++j) out[(i0 + i) * n + i0 + j] = corner[i * kBlockRows + j];
        }
    }
}

// out[c] = fma(factor, x[c], out[c])
inline void one_term(float factor, const float* x, float* out, std::size_t n) {
    const V f = L::set(factor);
    map2(n, x, out, out, [f](V p, V q) HWY_ATTR { return hn::MulAdd(f, p, q); });
}

// out[i,c] = chain over j = 0…i of fma(m[i,j], x[j,c], ·).
inline void rows_times(arithmetic::HeadShape shape, const float* m, arithmetic::HeadView x,
                       arithmetic::HeadOut out) {
    const std::size_t n = shape.tokens;
    for (std::size_t i0 = 0; i0 < n; i0 += kBlockRows) {
        const std::size_t rows = n - i0 < kBlockRows ? n - i0 : kBlockRows;
        product_part({rows,
                      shape.head_dim,
                      i0,
                      {m + i0 * n, n, 1},
                      {x.data, x.stride, 1},
                      out.data + i0 * out.stride,
                      out.stride});
        for (std::size_t i = i0; i < i0 + rows; ++i) {
            for (std::size_t j = i0; j <= i; ++j) {
                one_term(m[i * n + j], x.data + j * x.stride, out.data + i * out.stride, shape.head_dim);
            }
        }
    }
}
// out[j,c] = chain over i = j…T−1 of fma(m[i,j], x[i,c], ·).
inline void columns_times(arithmetic::HeadShape shape, const float* m, arithmetic::HeadView x,
                          arithmetic::HeadOut out, ChainStart start) {
    const std::size_t n = shape.tokens;
    for (std::size_t j0 = 0; j0 < n; j0 += kBlockRows) {
        const std::size_t rows = n - j0 < kBlockRows ? n - j0 : kBlockRows;
        const std::size_t below = j0 + rows;
        for (std::size_t j = j0; j < below; ++j) {
            float* row = out.data + j * out.stride;
            for (std::size_t c = 0; start == ChainStart::kZero && c < shape.head_dim; ++c) row[c] = 0.0F;
            for (std::size_t i = j; i < below; ++i) {
                one_term(m[i * n + j], x.data + i * x.stride, row, shape.head_dim);
            }
        }
        product_part({rows,
                      shape.head_dim,
                      n - below,
                      {m + below * n + j0, 1, n},
                      {x.data + below * x.stride, x.stride, 1},
                      out.data + j0 * out.stride,
                      out.stride,
                      ChainStart::kCarry});
    }
}

using View = ProductKernels::View;
using Floats = ProductKernels::Floats;

inline bool finite_triangle(std::size_t n, const float* square) {
    Watch watch;
    for (std::size_t i = 0; i < n; ++i) watch_row(square + i * n, i + 1, watch);
    return watch.good();
}
inline bool finite_head(arithmetic::HeadShape shape, arithmetic::HeadOut out) {
    Watch watch;
    for (std::size_t i = 0; i < shape.tokens; ++i)
        watch_row(out.data + i * out.stride, shape.head_dim, watch);
    return watch.good();
}

inline bool attention_scores(arithmetic::HeadShape shape, arithmetic::HeadView q, arithmetic::HeadView k,
                             Floats scores) {
    lower_products(shape, q, k, scores.data());
    const V scale = L::set(arithmetic::attention_scale(shape.head_dim));
    bool good = true;
    for (std::size_t i = 0; i < shape.tokens; ++i) {
        float* row = scores.data() + i * shape.tokens;
        good = map1(i + 1, row, row, [scale](V v) HWY_ATTR { return hn::Mul(v, scale); }) && good;
    }
    return good;
}
inline bool attention_probability_gradient(arithmetic::HeadShape shape, arithmetic::HeadView d_o,
                                           arithmetic::HeadView v, Floats dp) {
    lower_products(shape, d_o, v, dp.data());
    return finite_triangle(shape.tokens, dp.data());
}
inline bool attention_values(arithmetic::HeadShape shape, View p, arithmetic::HeadView v,
                             arithmetic::HeadOut o) {
    rows_times(shape, p.data(), v, o);
    return finite_head(shape, o);
}
inline bool attention_query_gradient(arithmetic::HeadShape shape, View ds, arithmetic::HeadView k,
                                     arithmetic::HeadOut dq) {
    rows_times(shape, ds.data(), k, dq);
    return finite_head(shape, dq);
}
inline bool attention_key_gradient(arithmetic::HeadShape shape, View ds, arithmetic::HeadView q,
                                   arithmetic::HeadOut dk, ChainStart start) {
    columns_times(shape, ds.data(), q, dk, start);
    return finite_head(shape, dk);
}
inline bool attention_value_gradient(arithmetic::HeadShape shape, View p, arithmetic::HeadView d_o,
                                     arithmetic::HeadOut dv, ChainStart start) {
    columns_times(shape, p.data(), d_o, dv, start);
    return finite_head(shape, dv);
}
