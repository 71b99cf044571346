// SPDX-License-Identifier: Apache-2.0
// Kernels over rows and elements: norms, softmax, GELU, loss, AdamW. Included once per target inside its
// namespace: no guard. What each computes is written at its definition in contracts/arithmetic.

using View = Kernels::View;
using Floats = Kernels::Floats;

inline void add(View a, View b, Floats y) {
    map2(y.size(), a.data(), b.data(), y.data(), [](V p, V q) HWY_ATTR { return hn::Add(p, q); });
}
inline void add_bias(View bias, Floats y) {
    const std::size_t n = bias.size();
    for (std::size_t at = 0; at < y.size(); at += n) {
        map2(n, y.data() + at, bias.data(), y.data() + at, [](V p, V q) HWY_ATTR { return hn::Add(p, q); });
    }
}

// Vectors of columns, then single columns, each with its own chain down the rows.
inline void bias_gradient(ColumnShape shape, const float* dy, float* db) {
    for (std::size_t j = 0; j < shape.cols; j += kN) {
        const std::size_t count = shape.cols - j < kN ? shape.cols - j : kN;
        V sum = hn::Zero(D());
        for (std::size_t t = 0; t < shape.rows; ++t) {
            const float* row = dy + t * shape.stride + j;
            sum = hn::Add(sum, count == kN ? load(row) : load_part(row, count));
        }
        map2(count, db + j, reinterpret_cast<const float*>(&sum), db + j,
             [](V p, V q) HWY_ATTR { return hn::Add(p, q); });
    }
}
inline void layer_norm_parameter_gradient(ColumnShape shape, const float* dy, const float* x,
                                          arithmetic::LayerNormRowsView rows, float* dgain, float* dbias) {
    for (std::size_t j = 0; j < shape.cols; j += kN) {
        const std::size_t count = shape.cols - j < kN ? shape.cols - j : kN;
        V gain = hn::Zero(D());
        V bias = hn::Zero(D());
        for (std::size_t t = 0; t < shape.rows; ++t) {
            const std::size_t at = t * shape.stride + j;
            const V d = count == kN ? load(dy + at) : load_part(dy + at, count);
            const V v = count == kN ? load(x + at) : load_part(x + at, count);
            const V normal = hn::Mul(hn::Sub(v, L::set(rows.mean[t])), L::set(rows.rstd[t]));
            gain = hn::MulAdd(d, normal, gain);
            bias = hn::Add(bias, d);
        }
        const auto sum = [](V p, V q) HWY_ATTR { return hn::Add(p, q); };
        map2(count, dgain + j, reinterpret_cast<const float*>(&gain), dgain + j, sum);
        map2(count, dbias + j, reinterpret_cast<const float*>(&bias), dbias + j, sum);
    }
}

inline void layer_norm_forward(View x, View gain, View bias, Floats y, arithmetic::LayerNormRows rows) {
    const std::size_t n = gain.size();
    const auto size = static_cast<float>(n);
    for (std::size_t t = 0; t < rows.mean.size(); ++t) {
        const float* row = x.data() + t * n;
        float* out = y.data() + t * n;
        const float mean = row_sum(row, n) / size;
        const V m = L::set(mean);
        map1(n, row, out, [m](V v) HWY_ATTR { return hn::Sub(v, m); });
        const float rstd =
            1.0F / __builtin_sqrtf(row_dot(out, out, n) / size + arithmetic::kLayerNormEpsilon);
        const V r = L::set(rstd);
        std::size_t i = 0;
        for (; i + kN <= n; i += kN) {
            store(hn::MulAdd(hn::Mul(load(out + i), r), load(gain.data() + i), load(bias.data() + i)),
                  out + i);
        }
        for (; i < n; ++i) out[i] = __builtin_fmaf(out[i] * rstd, gain[i], bias[i]);
        rows.mean[t] = mean;
        rows.rstd[t] = rstd;
    }
}

inline void layer_norm_input_gradient(View dy, View x, View gain, arithmetic::LayerNormRowsView rows,
                                      Floats dx) {
    static thread_local std::vector<float> buffer;
    const std::size_t n = gain.size();
    if (buffer.size() < 2 * n) buffer.resize(2 * n);
    float* normal = buffer.data();
    float* scaled = normal + n;
    const auto size = static_cast<float>(n);
    for (std::size_t t = 0; t < rows.mean.size(); ++t) {
        const V mean = L::set(rows.mean[t]);
        const V rstd = L::set(rows.rstd[t]);
        map1(n, x.data() + t * n, normal,
             [mean, rstd](V v) HWY_ATTR { return hn::Mul(hn::Sub(v, mean), rstd); });
        map2(n, dy.data() + t * n, gain.data(), scaled, [](V p, V q) HWY_ATTR { return hn::Mul(p, q); });
        const V a = L::set(row_sum(scaled, n) / size);
        const V b = L::set(row_dot(scaled, normal, n) / size);
        map2(n, normal, scaled, dx.data() + t * n, [a, b, rstd](V h, V u) HWY_ATTR {
            return hn::Mul(rstd, hn::MulAdd(hn::Neg(h), b, hn::Sub(u, a)));
        });
    }
}

inline V gelu_tanh(V x, V x2) {
    const V inner = hn::MulAdd(x2, L::set(arithmetic::kGeluCubic), L::set(1.0F));
    return tanh_sequence<L>(hn::Mul(hn::Mul(x, L::set(arithmetic::kGeluScale)), inner));
}
inline void gelu_forward(View x, Floats y) {
    map1(y.size(), x.data(), y.data(), [](V v) HWY_ATTR {
        const V t = gelu_tanh(v, hn::Mul(v, v));
        const V h = hn::Mul(L::set(0.5F), v);
        return hn::MulAdd(h, t, h);
    });
}
inline void gelu_backward(View x, View dy, Floats dx) {
    map2(dx.size(), x.data(), dy.data(), dx.data(), [](V v, V d) HWY_ATTR {
        const V x2 = hn::Mul(v, v);
        const V t = gelu_tanh(v, x2);
        const V s = hn::MulAdd(hn::Neg(t), t, L::set(1.0F));
        const V q = hn::MulAdd(x2, L::set(arithmetic::kGeluSlopeCubic), L::set(arithmetic::kGeluScale));
        const V a = hn::MulAdd(L::set(0.5F), t, L::set(0.5F));
        return hn::Mul(d, hn::MulAdd(hn::Mul(hn::Mul(L::set(0.5F), v), s), q, a));
    });
}

inline void exp_row(const float* x, float max, float* e, std::size_t n) {
    const V m = L::set(max);
    map1(n, x, e, [m](V v) HWY_ATTR { return exp_sequence<L>(hn::Sub(v, m)); });
}
inline void divide_row(const float* e, float sum, float* p, std::size_t n) {
    const V s = L::set(sum);
    map1(n, e, p, [s](V v) HWY_ATTR { return hn::Div(v, s); });
}
inline void softmax_max(std::uint64_t n, View scores, Floats max) {
    for (std::size_t i = 0; i < n; ++i) max[i] = row_max(scores.data() + i * n, i + 1);
}
inline void softmax_exp(std::uint64_t n, View scores, View max, Floats e) {
    for (std::size_t i = 0; i < n; ++i) exp_row(scores.data() + i * n, max[i], e.data() + i * n, i + 1);
}
inline void softmax_sum(std::uint64_t n, View e, Floats sum) {
    for (std::size_t i = 0; i < n; ++i) sum[i] = row_sum(e.data() + i * n, i + 1);
}
inline void softmax_divide(std::uint64_t n, View e, View sum, Floats p) {
    for (std::size_t i = 0; i < n; ++i) divide_row(e.data() + i * n, sum[i], p.data() + i * n, i + 1);
}
inline void softmax_dot(std::uint64_t n, View dp, View p, Floats dot) {
    for (std::size_t i = 0; i < n; ++i) dot[i] = row_dot(dp.data() + i * n, p.data() + i * n, i + 1);
}
inline void softmax_gradient(arithmetic::HeadShape shape, View dp, View p, View dot, Floats ds) {
    const std::size_t n = shape.tokens;
    const V scale = L::set(arithmetic::attention_scale(shape.head_dim));
    for (std::size_t i = 0; i < n; ++i) {
        const V d = L::set(dot[i]);
        map2(i + 1, dp.data() + i * n, p.data() + i * n, ds.data() + i * n,
             [d, scale](V a, V b) HWY_ATTR { return hn::Mul(hn::Mul(b, hn::Sub(a, d)), scale); });
    }
}

inline void loss_max(std::uint64_t vocabulary, View logits, Floats max) {
    for (std::size_t t = 0; t < max.size(); ++t) max[t] = row_max(logits.data() + t * vocabulary, vocabulary);
}
inline void loss_exp(std::uint64_t vocabulary, View logits, View max, Floats e) {
    for (std::size_t t = 0; t < max.size(); ++t) {
        exp_row(logits.data() + t * vocabulary, max[t], e.data() + t * vocabulary, vocabulary);
    }
}
inline void loss_sum(std::uint64_t vocabulary, View e, Floats sum) {
    for (std::size_t t = 0; t < sum.size(); ++t) sum[t] = row_sum(e.data() + t * vocabulary, vocabulary);
}
inline void loss_gradient(std::uint64_t vocabulary, float r, View e, View sum, Kernels::Tokens targets,
                          Floats dlogits) {
    const V factor = L::set(r);
    for (std::size_t t = 0; t < sum.size(); ++t) {
        const std::size_t at = t * vocabulary + targets[t];
        const float p = e[at] / sum[t];  // read before the row is written: dlogits may be e
        const V s = L::set(sum[t]);
        map1(vocabulary, e.data() + t * vocabulary, dlogits.data() + t * vocabulary,
             [s, factor](V v) HWY_ATTR { return hn::Mul(hn::Div(v, s), factor); });
        dlogits[at] = (p - 1.0F) * r;
    }
}

// A vector of neighbouring tiles at a time, a lane each; the border by the definition.
inline void square_tiles(std::uint64_t rows, std::uint64_t cols, View g, Floats sums) {
    constexpr std::size_t kSide = arithmetic::kTile;
    const std::size_t across = (cols + kSide - 1) / kSide;
    const VI places = hn::Mul(hn::Iota(DI(), 0), hn::Set(DI(), static_cast<int>(kSide)));
    for (std::size_t top = 0; top < rows; top += kSide) {
        const std::size_t bottom = top + kSide < rows ? top + kSide : rows;
        float* out = sums.data() + top / kSide * across;
        std::size_t left = 0;
        for (; left + kN * kSide <= cols; left += kN * kSide) {
            V sum = hn::Zero(D());
            for (std::size_t i = top; i < bottom; ++i) {
                for (std::size_t j = 0; j < kSide; ++j) {
                    const V x = hn::GatherIndex(D(), g.data() + i * cols + left + j, places);
                    sum = hn::MulAdd(x, x, sum);
                }
            }
            store(sum, out + left / kSide);
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
    }
}

inline void adamw(const arithmetic::AdamWCoefficients& c, float clip, View g, Floats w, Floats m, Floats v) {
    for (std::size_t i = 0; i < g.size(); i += kN) {
        const std::size_t n = g.size() - i < kN ? g.size() - i : kN;
        const bool whole = n == kN;
        const auto get = [&](const float* p) HWY_ATTR { return whole ? load(p + i) : load_part(p + i, n); };
        const auto put = [&](V x, float* p) HWY_ATTR { whole ? store(x, p + i) : store_part(x, p + i, n); };
        const V h = hn::Mul(get(g.data()), L::set(clip));
        const V m1 = hn::MulAdd(L::set(c.beta1), get(m.data()), hn::Mul(L::set(c.one_minus_beta1), h));
        const V v1 =
            hn::MulAdd(L::set(c.beta2), get(v.data()), hn::Mul(hn::Mul(L::set(c.one_minus_beta2), h), h));
        const V root = hn::Sqrt(hn::Mul(v1, L::set(c.correction2)));
        const V u = hn::Div(hn::Mul(m1, L::set(c.correction1)), hn::Add(root, L::set(c.epsilon)));
        V x = get(w.data());
        x = hn::MulAdd(L::set(-c.decay), x, x);
        x = hn::MulAdd(L::set(-c.learning_rate), u, x);
        put(m1, m.data());
        put(v1, v.data());
        put(x, w.data());
    }
}

inline bool all_finite(View x) {
    const VI exponent = L::seti(0x7f800000);
    VI worst = hn::Zero(DI());
    std::size_t i = 0;
    for (; i + kN <= x.size(); i += kN) {
        worst = hn::Max(worst, hn::And(L::bits(load(x.data() + i)), exponent));
    }
    if (i < x.size()) {
        worst = hn::Max(worst, hn::And(L::bits(load_part(x.data() + i, x.size() - i)), exponent));
    }
    return hn::AllTrue(DI(), hn::Lt(worst, exponent));
}
