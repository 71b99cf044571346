// SPDX-License-Identifier: Apache-2.0
// Kernels over rows, columns and elements: norms, GELU, tile norms, AdamW. Included once per target inside
// its namespace: no guard. What each computes is written at its definition in contracts/arithmetic.

using View = Kernels::View;
using Floats = Kernels::Floats;
using Tokens = Kernels::Tokens;

inline bool add(View a, View b, Floats y) {
    return map2(y.size(), a.data(), b.data(), y.data(), [](V p, V q) HWY_ATTR { return hn::Add(p, q); });
}
inline bool add_bias(View bias, Floats y) {
    const std::size_t n = bias.size();
    bool good = true;
    for (std::size_t at = 0; at < y.size(); at += n) {
        float* row = y.data() + at;
        good = map2<false>(n, row, bias.data(), row, [](V p, V q) HWY_ATTR { return hn::Add(p, q); }) && good;
    }
    return good;
}

// Goes down all rows of a strip of kStripVectors vectors of columns, from column j on, with a chain in a
// register for each of its columns and each sum, and then adds the chains to `out`. `arrays` are those that
// `term` reads. They are prefetched here: their rows lie pages apart, so no processor predicts the next one.
template <std::size_t kStripVectors, std::size_t kSums, std::size_t kArrays, class Term>
inline void column_strip(ColumnShape shape, std::size_t j, const float* const (&arrays)[kArrays],
                         float* const (&out)[kSums], const Term& term, FiniteWatch& watch) {
    constexpr std::size_t kLine = 64 / sizeof(float), kAhead = 8;
    V sums[kStripVectors][kSums];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kStripVectors * kSums; ++i) sums[i / kSums][i % kSums] = hn::Zero(D());
    for (std::size_t t = 0; t < shape.rows; ++t) {
        const std::size_t at = t * shape.stride + j;
        for (const float* array : arrays) {
#pragma GCC unroll 8
            for (std::size_t i = 0; i < kStripVectors * kN; i += kLine)
                __builtin_prefetch(array + at + kAhead * shape.stride + i);
        }
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kStripVectors; ++v)
            term(
                t, at + v * kN, [](const float* p) HWY_ATTR { return load(p); }, sums[v]);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kStripVectors * kSums; ++i) {
        float* const to = out[i % kSums] + j + i / kSums * kN;
        store(watch.pass(hn::Add(load(to), sums[i / kSums][i % kSums])), to);
    }
}

// Adds to each of `out` a chain down the rows for every column: term(t, at, read, sums) adds row t's terms of
// the vector of columns at `at` to its kSums chains, and reads arrays by read(array + at). Strips are a few
// cache lines wide, and narrower where columns end: a thread's share may be narrow.
template <std::size_t kSums, std::size_t kArrays, class Term>
inline bool column_chains(ColumnShape shape, const float* const (&arrays)[kArrays],
                          float* const (&out)[kSums], const Term& term) {
    constexpr std::size_t kMost = HWY_TARGET == HWY_AVX2 ? 8 / kSums : 8;
    FiniteWatch watch;
    std::size_t j = 0;
    for (; j + kMost * kN <= shape.cols; j += kMost * kN)
        column_strip<kMost>(shape, j, arrays, out, term, watch);
    for (; j + kMost / 2 * kN <= shape.cols; j += kMost / 2 * kN)
        column_strip<kMost / 2>(shape, j, arrays, out, term, watch);
    for (; j + kN <= shape.cols; j += kN) column_strip<1>(shape, j, arrays, out, term, watch);
    if (j == shape.cols) return watch.good();
    const std::size_t rest = shape.cols - j;
    const auto read = [rest](const float* p) HWY_ATTR { return load_part(p, rest); };
    V sums[kSums];
    for (V& sum : sums) sum = hn::Zero(D());
    for (std::size_t t = 0; t < shape.rows; ++t) term(t, t * shape.stride + j, read, sums);
    for (std::size_t i = 0; i < kSums; ++i) {
        store_part(hn::Add(read(out[i] + j), sums[i]), out[i] + j, rest);
        watch.see(read(out[i] + j));
    }
    return watch.good();
}

inline bool bias_gradient(ColumnShape shape, const float* dy, float* db) {
    return column_chains<1>(shape, {dy}, {db},
                            [dy](std::size_t, std::size_t at, const auto& read, V* sums)
                                HWY_ATTR { sums[0] = hn::Add(sums[0], read(dy + at)); });
}
inline bool layer_norm_parameter_gradient(ColumnShape shape, const float* dy, const float* x,
                                          arithmetic::LayerNormRowsView rows, float* dgain, float* dbias) {
    return column_chains<2>(shape, {dy, x}, {dgain, dbias},
                            [dy, x, rows](std::size_t t, std::size_t at, const auto& read, V* sums) HWY_ATTR {
                                const V d = read(dy + at),
                                        centred = hn::Sub(read(x + at), L::set(rows.mean[t]));
                                sums[0] = hn::MulAdd(d, hn::Mul(centred, L::set(rows.rstd[t])), sums[0]);
                                sums[1] = hn::Add(sums[1], d);
                            });
}

inline bool layer_norm_forward(View x, View gain, View bias, Floats y, arithmetic::LayerNormRows rows) {
    const std::size_t n = gain.size();
    const auto size = static_cast<float>(n);
    bool good = true;
    for (std::size_t t = 0; t < rows.mean.size(); ++t) {
        const float* row = x.data() + t * n;
        float* out = y.data() + t * n;
        const float mean = row_sum(row, n) / size;
        const V m = L::set(mean);
        const float squares = sum_row(
            n,
            [&](V lane, std::size_t i) HWY_ATTR {
                const V d = hn::Sub(load(row + i), m);
                return hn::MulAdd(d, d, lane);
            },
            [&](V lane, std::size_t i, std::size_t count) HWY_ATTR {
                const V d = hn::Sub(load_part(row + i, count), m);
                return hn::MulAdd(d, d, lane);
            });
        const float rstd = 1.0F / __builtin_sqrtf(squares / size + arithmetic::kLayerNormEpsilon);
        const V r = L::set(rstd);
        good = map3(n, row, gain.data(), bias.data(), out,
                    [m, r](V value, V g, V b)
                        HWY_ATTR { return hn::MulAdd(hn::Mul(hn::Sub(value, m), r), g, b); }) &&
               good;
        rows.mean[t] = mean;
        rows.rstd[t] = rstd;
        good = finite(mean) && finite(rstd) && good;
    }
    return good;
}

inline bool layer_norm_input_gradient(View dy, View x, View gain, arithmetic::LayerNormRowsView rows,
                                      Floats dx) {
    const std::size_t n = gain.size();
    const auto size = static_cast<float>(n);
    const auto product = [](V p, V q) HWY_ATTR { return hn::Mul(p, q); };
    bool good = true;
    for (std::size_t t = 0; t < rows.mean.size(); ++t) {
        const float* dy_row = dy.data() + t * n;
        const float* x_row = x.data() + t * n;
        float* out = dx.data() + t * n;
        const V mean = L::set(rows.mean[t]);
        const V rstd = L::set(rows.rstd[t]);
        const auto normal = [mean, rstd](V v) HWY_ATTR { return hn::Mul(hn::Sub(v, mean), rstd); };
        const float sum = sum_row(
            n,
            [&](V lane, std::size_t i)
                HWY_ATTR { return hn::Add(lane, product(load_ahead(dy_row + i), load(gain.data() + i))); },
            [&](V lane, std::size_t i, std::size_t count) HWY_ATTR {
                return hn::Add(lane,
                               product(load_part(dy_row + i, count), load_part(gain.data() + i, count)));
            });
        const V a = L::set(sum / size);
        const float dot = sum_row(
            n,
            [&](V lane, std::size_t i) HWY_ATTR {
                const V u = product(load(dy_row + i), load(gain.data() + i));
                return hn::MulAdd(u, normal(load_ahead(x_row + i)), lane);
            },
            [&](V lane, std::size_t i, std::size_t count) HWY_ATTR {
                const V u = product(load_part(dy_row + i, count), load_part(gain.data() + i, count));
                return hn::MulAdd(u, normal(load_part(x_row + i, count)), lane);
            });
        const V b = L::set(dot / size);
        good = map3(n, dy_row, gain.data(), x_row, out,
                    [&](V d, V g, V v) HWY_ATTR {
                        const V u = hn::Sub(product(d, g), a);
                        return hn::Mul(rstd, hn::MulAdd(hn::Neg(normal(v)), b, u));
                    }) &&
               good;
    }
    return good;
}

inline V gelu_tanh(V x, V x2) {
    const V inner = hn::MulAdd(x2, L::set(arithmetic::kGeluCubic), L::set(1.0F));
    return tanh_sequence<L>(hn::Mul(hn::Mul(x, L::set(arithmetic::kGeluScale)), inner));
}
inline bool gelu_forward(View x, Floats y) {
    return map1(y.size(), x.data(), y.data(), [](V v) HWY_ATTR {
        const V t = gelu_tanh(v, hn::Mul(v, v));
        const V h = hn::Mul(L::set(0.5F), v);
        return hn::MulAdd(h, t, h);
    });
}
inline bool gelu_backward(View x, View dy, Floats dx) {
    return map2(dx.size(), x.data(), dy.data(), dx.data(), [](V v, V d) HWY_ATTR {
        const V x2 = hn::Mul(v, v);
        const V t = gelu_tanh(v, x2);
        const V s = hn::MulAdd(hn::Neg(t), t, L::set(1.0F));
        const V q = hn::MulAdd(x2, L::set(arithmetic::kGeluSlopeCubic), L::set(arithmetic::kGeluScale));
        const V a = hn::MulAdd(L::set(0.5F), t, L::set(0.5F));
        return hn::Mul(d, hn::MulAdd(hn::Mul(hn::Mul(L::set(0.5F), v), s), q, a));
    });
}

// Works on neighbouring tiles together, so that their chains hide each other's latency.
inline bool square_tiles(std::uint64_t rows, std::uint64_t cols, View g, Floats sums) {
    constexpr std::size_t kSide = arithmetic::kTile;
    constexpr std::size_t kTiles = 8;
    const std::size_t across = (cols + kSide - 1) / kSide;
    bool good = true;
    for (std::size_t top = 0; top < rows; top += kSide) {
        const std::size_t bottom = top + kSide < rows ? top + kSide : rows;
        float* out = sums.data() + top / kSide * across;
        std::size_t left = 0;
        for (; left + kTiles * kSide <= cols; left += kTiles * kSide) {
            float sum[kTiles] = {};
            for (std::size_t i = top; i < bottom; ++i) {
                const float* row = g.data() + i * cols + left;
                // The same row of the tiles below: these are more pieces of memory than a processor follows.
                for (std::size_t t = 0; t < kTiles; ++t) {
                    __builtin_prefetch(row + kSide * cols + t * kSide, 0, 2);
                }
                for (std::size_t j = 0; j < kSide; ++j) {
#pragma GCC unroll 8
                    for (std::size_t t = 0; t < kTiles; ++t) {
                        const float x = row[t * kSide + j];
                        sum[t] = __builtin_fmaf(x, x, sum[t]);
                    }
                }
            }
            for (std::size_t t = 0; t < kTiles; ++t) out[left / kSide + t] = sum[t];
        }
        for (; left < cols; left += kSide) {
            const std::size_t right = left + kSide < cols ? left + kSide : cols;
            float sum = 0.0F;
            for (std::size_t i = top; i < bottom; ++i) {
                for (std::size_t j = left; j < right; ++j) {
                    sum = __builtin_fmaf(g[i * cols + j], g[i * cols + j], sum);
                }
            }
            out[left / kSide] = sum;
        }
        for (std::size_t i = 0; i < across; ++i) good = finite(out[i]) && good;
    }
    return good;
}

inline bool adamw(const arithmetic::AdamWCoefficients& c, float clip, View g, Floats w, Floats m, Floats v) {
    FiniteWatch watch;
    const V decay = L::set(-c.decay);
    const V rate = L::set(-c.learning_rate);
    const auto update = [&](V gradient, V& weight, V& first, V& second) HWY_ATTR {
        const V h = hn::Mul(gradient, L::set(clip));
        first = hn::MulAdd(L::set(c.beta1), first, hn::Mul(L::set(c.one_minus_beta1), h));
        second = hn::MulAdd(L::set(c.beta2), second, hn::Mul(hn::Mul(L::set(c.one_minus_beta2), h), h));
        const V root = hn::Sqrt(hn::Mul(second, L::set(c.correction2)));
        const V u = hn::Div(hn::Mul(first, L::set(c.correction1)), hn::Add(root, L::set(c.epsilon)));
        weight = hn::MulAdd(rate, u, hn::MulAdd(decay, weight, weight));
        watch.see(first);
        watch.see(second);
        watch.see(weight);
    };
    for_vectors(
        g.size(),
        [&](std::size_t i) HWY_ATTR {
            V weight = load_ahead(w.data() + i), first = load_ahead(m.data() + i);
            V second = load_ahead(v.data() + i);
            update(load_ahead(g.data() + i), weight, first, second);
            store(weight, w.data() + i);
            store(first, m.data() + i);
            store(second, v.data() + i);
        },
        [&](std::size_t i, std::size_t count) HWY_ATTR {
            V weight = load_part(w.data() + i, count), first = load_part(m.data() + i, count);
            V second = load_part(v.data() + i, count);
            update(load_part(g.data() + i, count), weight, first, second);
            store_part(weight, w.data() + i, count);
            store_part(first, m.data() + i, count);
            store_part(second, v.data() + i, count);
        });
    return watch.good();
}

inline bool outer_nesterov(arithmetic::OuterCoefficients c, View g, Floats w, Floats m) {
    FiniteWatch watch;
    const V momentum = L::set(c.momentum);
    const V rate = L::set(c.learning_rate);
    const auto update = [&](V gradient, V& weight, V& moved) HWY_ATTR {
        moved = watch.pass(hn::Add(hn::Mul(momentum, moved), gradient));
        const V ahead = hn::Add(gradient, hn::Mul(momentum, moved));
        weight = watch.pass(hn::Sub(weight, hn::Mul(rate, ahead)));
    };
    for_vectors(
        g.size(),
        [&](std::size_t i) HWY_ATTR {
            V weight = load(w.data() + i), moved = load(m.data() + i);
            update(load(g.data() + i), weight, moved);
            store(weight, w.data() + i);
            store(moved, m.data() + i);
        },
        [&](std::size_t i, std::size_t count) HWY_ATTR {
            V weight = load_part(w.data() + i, count), moved = load_part(m.data() + i, count);
            update(load_part(g.data() + i, count), weight, moved);
            store_part(weight, w.data() + i, count);
            store_part(moved, m.data() + i, count);
        });
    return watch.good();
}

inline bool all_finite(View x) {
    FiniteWatch watch;
    watch_row(x.data(), x.size(), watch);
    return watch.good();
}

// Sets the largest magnitudes of kRows rows and raises those of the columns.
template <std::size_t kRows>
inline void largest_of_rows(std::size_t cols, std::size_t stride, const float* x, std::int32_t* row,
                            std::int32_t* column) {
    const VI magnitude = L::seti(0x7fffffff);
    VI most[kRows];
    for (VI& one : most) one = hn::Zero(DI());
    for_vectors(
        cols,
        [&](std::size_t j) HWY_ATTR {
            VI across = hn::LoadU(DI(), column + j);
            for (std::size_t i = 0; i < kRows; ++i) {
                const VI bits = hn::And(L::bits(load_ahead(x + i * stride + j)), magnitude);
                most[i] = hn::Max(most[i], bits);
                across = hn::Max(across, bits);
            }
            hn::StoreU(across, DI(), column + j);
        },
        [&](std::size_t j, std::size_t count) HWY_ATTR {
            for (std::size_t i = 0; i < kRows; ++i) {
                most[i] = hn::Max(most[i], hn::And(L::bits(load_part(x + i * stride + j, count)), magnitude));
                for (std::size_t l = j; l < j + count; ++l) {
                    const std::int32_t bits =
                        __builtin_bit_cast(std::int32_t, x[i * stride + l]) & 0x7fffffff;
                    column[l] = bits > column[l] ? bits : column[l];
                }
            }
        });
    for (std::size_t i = 0; i < kRows; ++i) row[i] = hn::GetLane(hn::MaxOfLanes(DI(), most[i]));
}
inline void largest(ColumnShape shape, const float* x, std::int32_t* row, std::int32_t* column) {
    constexpr std::size_t kAtOnce = 4;
    std::size_t i = 0;
    for (; i + kAtOnce <= shape.rows; i += kAtOnce) {
        largest_of_rows<kAtOnce>(shape.cols, shape.stride, x + i * shape.stride, row + i, column);
    }
    for (; i < shape.rows; ++i) {
        largest_of_rows<1>(shape.cols, shape.stride, x + i * shape.stride, row + i, column);
    }
}

inline bool bounded(View x, std::uint32_t mask, std::uint32_t limit) {
    using DU = hn::RebindToUnsigned<D>;
    const auto keep = hn::Set(DU(), mask);
    auto worst = hn::Zero(DU());
    for_vectors(
        x.size(),
        [&](std::size_t i)
            HWY_ATTR { worst = hn::Max(worst, hn::And(hn::BitCast(DU(), load(x.data() + i)), keep)); },
        [&](std::size_t i, std::size_t count) HWY_ATTR {
            worst = hn::Max(worst, hn::And(hn::BitCast(DU(), load_part(x.data() + i, count)), keep));
        });
    HWY_ALIGN std::uint32_t lanes[kN];
    hn::Store(worst, DU(), lanes);
    bool good = true;
    for (const std::uint32_t lane : lanes) good = lane <= limit && good;
    return good;
}
