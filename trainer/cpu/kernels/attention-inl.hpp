// SPDX-License-Identifier: Apache-2.0
// Attention's products with the register tile. For a tile across the diagonal, products of rows by rows are
// computed into a buffer and the lower part is kept. Sums over tokens add the triangle on the diagonal term
// by term, since masked terms are never added, not even as zeros (−0 + 0 would change a sign). Included once
// per target inside its namespace: no guard.

using View = ProductKernels::View;
using Floats = ProductKernels::Floats;
using arithmetic::HeadOut;
using arithmetic::HeadShape;
using arithmetic::HeadView;

// Tokens in a block of a sum over tokens: a multiple of every kMr, so that no triangle is cut.
inline constexpr std::size_t kTokens = 480 < kDepth ? 480 : 240;
static_assert(kTokens % kMr == 0 && kTokens <= kDepth);

// A tile that the diagonal crosses: rows i…, columns j… of a square of side n.
inline void diagonal_tile(const TileRun& run, std::size_t rows, std::size_t i, std::size_t j, const float* a,
                          const float* b, float* out, FiniteWatch& watch) {
    HWY_ALIGN float buffer[kMr * kNr] = {};
    TileRun own = run;
    own.c_stride = kNr;
    const auto count = [&](std::size_t r) {
        return i + r < j ? 0 : i + r - j + 1 < kNr ? i + r - j + 1 : kNr;
    };
    for (std::size_t r = 0; run.carry && r < rows; ++r) {
        for (std::size_t c = 0; c < count(r); ++c) buffer[r * kNr + c] = out[r * run.c_stride + c];
    }
    FiniteWatch beyond;  // numbers above the diagonal do not count
    tile_rows<false>(own, rows, a, b, buffer, beyond);
    for (std::size_t r = 0; r < rows; ++r) {
        __builtin_memcpy(out + r * run.c_stride, buffer + r * kNr, count(r) * sizeof(float));
        if (run.last) watch_row(buffer + r * kNr, count(r), watch);
    }
}

// out[i,j] = (chain over c of fma(a[i,c], b[j,c], ·)) · scale, for j <= i.
inline bool lower_products(HeadShape shape, HeadView a, HeadView b, float scale, float* out) {
    const std::size_t n = shape.tokens;
    PackBuffers& packed = pack_buffers();
    FiniteWatch watch;
    for (std::size_t j0 = 0; j0 < n; j0 += kCols) {
        const std::size_t cols = n - j0 < kCols ? n - j0 : kCols;
        for (std::size_t k0 = 0; k0 < shape.head_dim; k0 += kDepth) {
            TileRun run;
            run.depth = shape.head_dim - k0 < kDepth ? shape.head_dim - k0 : kDepth;
            run.a_stride = a.stride;
            run.c_stride = n;
            run.carry = k0 > 0;
            run.last = k0 + run.depth == shape.head_dim;
            run.scale = scale;
            pack<kNr>(b.data + j0 * b.stride + k0, b.stride, 1, cols, run.depth, packed.b);
            for (std::size_t i = j0 / kMr * kMr; i < n; i += kMr) {
                const std::size_t rows = n - i < kMr ? n - i : kMr;
                const float* a_rows = a.data + i * a.stride + k0;
                for (std::size_t j = j0; j < j0 + cols && j < i + rows; j += kNr) {
                    const float* panel = packed.b + (j - j0) / kNr * panel_stride(kNr, run.depth);
                    float* c = out + i * n + j;
                    if (j + kNr <= i + 1) {
                        tile_rows<false>(run, rows, a_rows, panel, c, watch);
                    } else {
                        diagonal_tile(run, rows, i, j, a_rows, panel, c, watch);
                    }
                }
            }
        }
    }
    return watch.good();
}

// The triangle of `rows` rows of c, `cols` numbers each. The chain of row r continues over the terms t of
// fma(m(r, t), x[t], ·), with x[t] at b + t·kNr: t = 0…r if kLower, otherwise t = r…rows−1.
template <bool kLower, class Factor>
HWY_INLINE void triangle(std::size_t rows, std::size_t cols, const Factor& m, const float* b, float* c,
                         std::size_t c_stride, bool carry, bool last, FiniteWatch& watch) {
    for (std::size_t v = 0; v < cols; v += kN) {
        const std::size_t count = cols - v < kN ? cols - v : kN;
        for (std::size_t r = 0; r < rows; ++r) {
            float* at = c + r * c_stride + v;
            V sum = !carry ? hn::Zero(D()) : count == kN ? load(at) : load_part(at, count);
            for (std::size_t t = kLower ? 0 : r; t < (kLower ? r + 1 : rows); ++t) {
                sum = hn::MulAdd(hn::Set(D(), m(r, t)), load(b + t * kNr + v), sum);
            }
            if (count == kN) {
                store(sum, at);
                if (last) watch.see(sum);
            } else {
                store_part(sum, at, count);
                if (last) watch.see(load_part(at, count));
            }
        }
    }
}

template <bool kPackedA>
HWY_INLINE void tile_any(const TileRun& run, std::size_t rows, std::size_t cols, const float* a,
                         const float* b, float* c, FiniteWatch& watch) {
    if (cols == kNr) {
        tile_rows<kPackedA>(run, rows, a, b, c, watch);
    } else {
        tile_columns<kPackedA>(run, rows, cols, a, b, c, watch);
    }
}

// Packs tokens [t0, t0 + depth) of x and calls each(first column, columns, panel) for each panel of columns.
template <class Each>
HWY_INLINE void for_panels(HeadShape shape, HeadView x, std::size_t t0, std::size_t depth, const Each& each) {
    PackBuffers& packed = pack_buffers();
    for (std::size_t c0 = 0; c0 < shape.head_dim; c0 += kCols) {
        const std::size_t cols = shape.head_dim - c0 < kCols ? shape.head_dim - c0 : kCols;
        pack<kNr>(x.data + t0 * x.stride + c0, 1, x.stride, cols, depth, packed.b);
        for (std::size_t c = 0; c < cols; c += kNr) {
            each(c0 + c, cols - c < kNr ? cols - c : kNr, packed.b + c / kNr * panel_stride(kNr, depth));
        }
    }
}

// out[i,c] = chain over j = 0…i of fma(m[i,j], x[j,c], ·).
inline bool rows_times(HeadShape shape, const float* m, HeadView x, HeadOut out) {
    const std::size_t n = shape.tokens;
    FiniteWatch watch;
    for (std::size_t t0 = 0; t0 < n; t0 += kTokens) {
        const std::size_t depth = n - t0 < kTokens ? n - t0 : kTokens;
        for_panels(shape, x, t0, depth, [&](std::size_t column, std::size_t cols, const float* b) HWY_ATTR {
            TileRun run;
            run.a_stride = n;
            run.c_stride = out.stride;
            run.carry = t0 > 0;
            for (std::size_t i = t0; i < n; i += kMr) {
                const std::size_t rows = n - i < kMr ? n - i : kMr;
                const bool on_diagonal = i < t0 + depth;
                float* c = out.data + i * out.stride + column;
                run.depth = on_diagonal ? i - t0 : depth;
                tile_any<false>(run, rows, cols, m + i * n + t0, b, c, watch);
                if (!on_diagonal) continue;
                triangle<true>(
                    rows, cols, [&](std::size_t r, std::size_t t) { return m[(i + r) * n + i + t]; },
                    b + (i - t0) * kNr, c, out.stride, true, true, watch);
            }
        });
    }
    return watch.good();
}
// out[j,c] = chain over i = j…T−1 of fma(m[i,j], x[i,c], ·).
inline bool columns_times(HeadShape shape, const float* m, HeadView x, HeadOut out, ChainStart start) {
    const std::size_t n = shape.tokens;
    FiniteWatch watch;
    for (std::size_t t0 = 0; t0 < n; t0 += kTokens) {
        const std::size_t depth = n - t0 < kTokens ? n - t0 : kTokens;
        for_panels(shape, x, t0, depth, [&](std::size_t column, std::size_t cols, const float* b) HWY_ATTR {
            TileRun run;
            run.a_stride = n;
            run.c_stride = out.stride;
            run.carry = true;
            run.last = t0 + depth == n;
            for (std::size_t j = 0; j < t0 + depth; j += kMr) {
                const std::size_t rows = n - j < kMr ? n - j : kMr;
                float* c = out.data + j * out.stride + column;
                std::size_t first = t0;
                if (j >= t0) {
                    triangle<false>(
                        rows, cols, [&](std::size_t r, std::size_t t) { return m[(j + t) * n + j + r]; },
                        b + (j - t0) * kNr, c, out.stride, start == ChainStart::kCarry, false, watch);
                    first = j + rows;
                }
                run.depth = t0 + depth - first;
                tile_any<true>(run, rows, cols, m + first * n + j, b + (first - t0) * kNr, c, watch);
            }
        });
    }
    return watch.good();
}

inline bool attention_scores(HeadShape shape, HeadView q, HeadView k, Floats scores) {
    return lower_products(shape, q, k, arithmetic::attention_scale(shape.head_dim), scores.data());
}
inline bool attention_probability_gradient(HeadShape shape, HeadView d_o, HeadView v, Floats dp) {
    return lower_products(shape, d_o, v, 1.0F, dp.data());
}
inline bool attention_values(HeadShape shape, View p, HeadView v, HeadOut o) {
    return rows_times(shape, p.data(), v, o);
}
inline bool attention_query_gradient(HeadShape shape, View ds, HeadView k, HeadOut dq) {
    return rows_times(shape, ds.data(), k, dq);
}
inline bool attention_key_gradient(HeadShape shape, View ds, HeadView q, HeadOut dk, ChainStart start) {
    return columns_times(shape, ds.data(), q, dk, start);
}
inline bool attention_value_gradient(HeadShape shape, View p, HeadView d_o, HeadOut dv, ChainStart start) {
    return columns_times(shape, p.data(), d_o, dv, start);
}
