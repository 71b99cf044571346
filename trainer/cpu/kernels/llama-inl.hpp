// SPDX-License-Identifier: Apache-2.0
// Kernels that only Llama uses: RMSNorm, rotary positions, SwiGLU. Included once per target inside its
// namespace: no guard. What each computes is written at its definition in contracts/arithmetic.

inline bool rms_norm_forward(float epsilon, View x, View gain, Floats y, Floats rstd) {
    const std::size_t n = gain.size();
    const float inverse = 1.0F / static_cast<float>(n);
    bool good = true;
    for (std::size_t t = 0; t < rstd.size(); ++t) {
        const float* row = x.data() + t * n;
        const float mean_square = row_dot(row, row, n) * inverse;
        const float root = 1.0F / __builtin_sqrtf(mean_square + epsilon);
        const V r = L::set(root);
        const bool fine = map2<false>(n, row, gain.data(), y.data() + t * n,
                                      [r](V v, V g) HWY_ATTR { return hn::Mul(hn::Mul(v, r), g); });
        rstd[t] = root;
        good = fine && finite(root) && good;
    }
    return good;
}

inline bool rms_norm_input_gradient(View dy, View x, View gain, View rstd, Floats dx) {
    const std::size_t n = gain.size();
    const float inverse = 1.0F / static_cast<float>(n);
    bool good = true;
    for (std::size_t t = 0; t < rstd.size(); ++t) {
        const float* dy_row = dy.data() + t * n;
        const float* x_row = x.data() + t * n;
        const V r = L::set(rstd[t]);
        const auto term = [r](V lane, V d, V g, V v)
                              HWY_ATTR { return hn::MulAdd(hn::Mul(d, g), hn::Mul(v, r), lane); };
        const float dot = sum_row(
            n,
            [&](V lane, std::size_t i)
                HWY_ATTR { return term(lane, load(dy_row + i), load(gain.data() + i), load(x_row + i)); },
            [&](V lane, std::size_t i, std::size_t count) HWY_ATTR {
                return term(lane, load_part(dy_row + i, count), load_part(gain.data() + i, count),
                            load_part(x_row + i, count));
            });
        const V c = L::set(dot * inverse);
        good = map3(n, dy_row, gain.data(), x_row, dx.data() + t * n,
                    [r, c](V d, V g, V v)
                        HWY_ATTR { return hn::Mul(hn::Sub(hn::Mul(d, g), hn::Mul(hn::Mul(v, r), c)), r); }) &&
               good;
    }
    return good;
}

inline bool rms_norm_parameter_gradient(ColumnShape shape, const float* dy, const float* x, View rstd,
                                        float* dgain) {
    return column_chains<1>(shape, {dy, x}, {dgain},
                            [dy, x, rstd](std::size_t t, std::size_t at, const auto& read, V* sums) HWY_ATTR {
                                sums[0] = hn::MulAdd(read(dy + at), hn::Mul(read(x + at), L::set(rstd[t])),
                                                     sums[0]);
                            });
}

// Rotates the pairs (i, i + d/2) of every head by the table's angles; kBack rotates them back.
template <bool kBack>
inline bool rotate(arithmetic::RopeShape shape, arithmetic::RopeTableView table, float* x) {
    const std::size_t half = shape.head_dim / 2;
    FiniteWatch watch;
    const auto turn = [](V cos, V sin, V& a, V& b) HWY_ATTR {
        const V first =
            kBack ? hn::MulAdd(a, cos, hn::Mul(b, sin)) : hn::MulAdd(a, cos, hn::Neg(hn::Mul(b, sin)));
        b = kBack ? hn::MulAdd(b, cos, hn::Neg(hn::Mul(a, sin))) : hn::MulAdd(b, cos, hn::Mul(a, sin));
        a = first;
    };
    for (std::size_t t = 0; t < shape.tokens; ++t) {
        const float* cos = table.cos.data() + (shape.first + t) * half;
        const float* sin = table.sin.data() + (shape.first + t) * half;
        for (std::size_t h = 0; h < shape.heads; ++h) {
            float* low = x + t * shape.stride + h * shape.head_dim;
            float* high = low + half;
            for_vectors(
                half,
                [&](std::size_t i) HWY_ATTR {
                    V a = load(low + i), b = load(high + i);
                    turn(load(cos + i), load(sin + i), a, b);
                    store(watch.pass(a), low + i);
                    store(watch.pass(b), high + i);
                },
                [&](std::size_t i, std::size_t count) HWY_ATTR {
                    V a = load_part(low + i, count), b = load_part(high + i, count);
                    turn(load_part(cos + i, count), load_part(sin + i, count), a, b);
                    store_part(a, low + i, count);
                    store_part(b, high + i, count);
                    watch.see(load_part(low + i, count));
                    watch.see(load_part(high + i, count));
                });
        }
    }
    return watch.good();
}
inline bool rope_forward(arithmetic::RopeShape shape, arithmetic::RopeTableView table, float* x) {
    return rotate<false>(shape, table, x);
}
inline bool rope_backward(arithmetic::RopeShape shape, arithmetic::RopeTableView table, float* dx) {
    return rotate<true>(shape, table, dx);
}

inline bool swiglu_forward(std::uint64_t hidden, View x, Floats y) {
    bool good = true;
    for (std::size_t at = 0; at < y.size(); at += hidden) {
        const float* gate = x.data() + 2 * at;
        good = map2(hidden, gate, gate + hidden, y.data() + at,
                    [](V g, V u) HWY_ATTR { return hn::Mul(hn::Mul(g, sigmoid_sequence<L>(g)), u); }) &&
               good;
    }
    return good;
}
inline bool swiglu_backward(std::uint64_t hidden, View x, View dy, Floats dx) {
    FiniteWatch watch;
    const auto gradients = [](V d, V& gate, V& up) HWY_ATTR {
        const V s = sigmoid_sequence<L>(gate);
        const V value = hn::Mul(d, hn::Mul(gate, s));
        gate = hn::Mul(hn::Mul(d, up), silu_slope_sequence<L>(gate, s));
        up = value;
    };
    for (std::size_t at = 0; at < dy.size(); at += hidden) {
        const float* in = x.data() + 2 * at;
        float* out = dx.data() + 2 * at;
        const float* d = dy.data() + at;
        for_vectors(
            hidden,
            [&](std::size_t i) HWY_ATTR {
                V gate = load(in + i), up = load(in + hidden + i);
                gradients(load(d + i), gate, up);
                store(watch.pass(gate), out + i);
                store(watch.pass(up), out + hidden + i);
            },
            [&](std::size_t i, std::size_t count) HWY_ATTR {
                V gate = load_part(in + i, count), up = load_part(in + hidden + i, count);
                gradients(load_part(d + i, count), gate, up);
                store_part(gate, out + i, count);
                store_part(up, out + hidden + i, count);
                watch.see(load_part(out + i, count));
                watch.see(load_part(out + hidden + i, count));
            });
    }
    return watch.good();
}
