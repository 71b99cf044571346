// SPDX-License-Identifier: Apache-2.0
// Softmax of attention (rows 0…i of a square) and of the loss (whole rows), operator by operator and fused.
// Included once per target inside its namespace: no guard. A fused kernel checks only numbers that can become
// infinite or NaN: if max and sum are finite, e lies in [0, 1], and so does p = e / sum, as sum >= 1.

inline bool exp_row(const float* x, float max, float* e, std::size_t n) {
    const V m = L::set(max);
    return map1(n, x, e, [m](V v) HWY_ATTR { return exp_sequence<L>(hn::Sub(v, m)); });
}
inline bool divide_row(const float* e, float sum, float* p, std::size_t n) {
    const V s = L::set(sum);
    return map1(n, e, p, [s](V v) HWY_ATTR { return hn::Div(v, s); });
}
// e = exp(x − max) in place; their sum in the order of lane_sum.
inline float exp_sum_row(float* x, float max, std::size_t n) {
    const V m = L::set(max);
    return sum_row(
        n,
        [&](V lane, std::size_t i) HWY_ATTR {
            const V e = exp_sequence<L>(hn::Sub(load(x + i), m));
            store(e, x + i);
            return hn::Add(lane, e);
        },
        [&](V lane, std::size_t i, std::size_t count) HWY_ATTR {
            const V e = exp_sequence<L>(hn::Sub(load_part(x + i, count), m));
            store_part(e, x + i, count);
            return hn::Add(lane, e);
        });
}

inline bool softmax_max(std::uint64_t n, View scores, Floats max) {
    for (std::size_t i = 0; i < n; ++i) max[i] = row_max(scores.data() + i * n, i + 1);
    return all_finite(max);
}
inline bool softmax_exp(std::uint64_t n, View scores, View max, Floats e) {
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) {
        good = exp_row(scores.data() + i * n, max[i], e.data() + i * n, i + 1) && good;
    }
    return good;
}
inline bool softmax_sum(std::uint64_t n, View e, Floats sum) {
    for (std::size_t i = 0; i < n; ++i) sum[i] = row_sum(e.data() + i * n, i + 1);
    return all_finite(sum);
}
inline bool softmax_divide(std::uint64_t n, View e, View sum, Floats p) {
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) {
        good = divide_row(e.data() + i * n, sum[i], p.data() + i * n, i + 1) && good;
    }
    return good;
}
inline bool softmax_dot(std::uint64_t n, View dp, View p, Floats dot) {
    for (std::size_t i = 0; i < n; ++i) dot[i] = row_dot(dp.data() + i * n, p.data() + i * n, i + 1);
    return all_finite(dot);
}
inline bool gradient_row(const float* dp, const float* p, float dot, float scale, float* ds, std::size_t n) {
    const V d = L::set(dot);
    const V s = L::set(scale);
    return map2(n, dp, p, ds, [d, s](V a, V b) HWY_ATTR { return hn::Mul(hn::Mul(b, hn::Sub(a, d)), s); });
}
inline bool softmax_gradient(arithmetic::HeadShape shape, View dp, View p, View dot, Floats ds) {
    const std::size_t n = shape.tokens;
    const float scale = arithmetic::attention_scale(shape.head_dim);
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = i * n;
        good = gradient_row(dp.data() + at, p.data() + at, dot[i], scale, ds.data() + at, i + 1) && good;
    }
    return good;
}

inline bool softmax(std::uint64_t n, Floats scores, Floats max, Floats sum) {
    for (std::size_t i = 0; i < n; ++i) {
        float* row = scores.data() + i * n;
        max[i] = row_max(row, i + 1);
        sum[i] = exp_sum_row(row, max[i], i + 1);
        divide_row(row, sum[i], row, i + 1);
    }
    return all_finite(max) && all_finite(sum);
}
inline bool softmax_again(std::uint64_t n, Floats scores, View max, View sum) {
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) {
        const V m = L::set(max[i]);
        const V s = L::set(sum[i]);
        float* row = scores.data() + i * n;
        good = map1(i + 1, row, row,
                    [m, s](V v) HWY_ATTR { return hn::Div(exp_sequence<L>(hn::Sub(v, m)), s); }) &&
               good;
    }
    return good;
}
inline bool softmax_backward(arithmetic::HeadShape shape, Floats dp, View p) {
    const std::size_t n = shape.tokens;
    const float scale = arithmetic::attention_scale(shape.head_dim);
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) {
        float* row = dp.data() + i * n;
        const float dot = row_dot(row, p.data() + i * n, i + 1);
        good = gradient_row(row, p.data() + i * n, dot, scale, row, i + 1) && finite(dot) && good;
    }
    return good;
}

inline bool loss_max(std::uint64_t vocabulary, View logits, Floats max) {
    for (std::size_t t = 0; t < max.size(); ++t) max[t] = row_max(logits.data() + t * vocabulary, vocabulary);
    return all_finite(max);
}
inline bool loss_exp(std::uint64_t vocabulary, View logits, View max, Floats e) {
    bool good = true;
    for (std::size_t t = 0; t < max.size(); ++t) {
        const std::size_t at = t * vocabulary;
        good = exp_row(logits.data() + at, max[t], e.data() + at, vocabulary) && good;
    }
    return good;
}
inline bool loss_sum(std::uint64_t vocabulary, View e, Floats sum) {
    for (std::size_t t = 0; t < sum.size(); ++t) sum[t] = row_sum(e.data() + t * vocabulary, vocabulary);
    return all_finite(sum);
}
inline bool loss_gradient_row(std::uint64_t vocabulary, float r, const float* e, float sum,
                              std::uint32_t target, float* dlogits) {
    const float p = e[target] / sum;  // read before the row is written: dlogits may be e
    const V s = L::set(sum);
    const V factor = L::set(r);
    const bool good =
        map1(vocabulary, e, dlogits, [s, factor](V v) HWY_ATTR { return hn::Mul(hn::Div(v, s), factor); });
    dlogits[target] = (p - 1.0F) * r;
    return finite(dlogits[target]) && good;
}
inline bool loss_gradient(std::uint64_t vocabulary, float r, View e, View sum, Tokens targets,
                          Floats dlogits) {
    bool good = true;
    for (std::size_t t = 0; t < sum.size(); ++t) {
        const std::size_t at = t * vocabulary;
        good =
            loss_gradient_row(vocabulary, r, e.data() + at, sum[t], targets[t], dlogits.data() + at) && good;
    }
    return good;
}
// One row; `logits` becomes e. Returns its sum.
inline float loss_row_forward(std::uint64_t vocabulary, std::uint32_t target, float* logits, float* loss,
                              bool& good) {
    const float max = row_max(logits, vocabulary);
    const float at_target = logits[target];
    const float sum = exp_sum_row(logits, max, vocabulary);
    *loss = arithmetic::log32(sum) - (at_target - max);
    good = finite(max) && finite(sum) && finite(*loss) && good;
    return sum;
}
inline bool loss_rows(std::uint64_t vocabulary, float r, Tokens targets, Floats logits, Floats loss) {
    bool good = true;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        float* row = logits.data() + t * vocabulary;
        const float sum = loss_row_forward(vocabulary, targets[t], row, &loss[t], good);
        good = loss_gradient_row(vocabulary, r, row, sum, targets[t], row) && good;
    }
    return good;
}
inline bool loss_rows_forward(std::uint64_t vocabulary, Tokens targets, Floats logits, Floats loss) {
    bool good = true;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        loss_row_forward(vocabulary, targets[t], logits.data() + t * vocabulary, &loss[t], good);
    }
    return good;
}
