// SPDX-License-Identifier: Apache-2.0
// 4 lanes in plain C++ under the names that the common code uses. Included once per target inside its
// namespace: no guard.

inline constexpr std::size_t kL = 4;
struct I {
    std::int32_t lane[kL];
};
struct F {
    float lane[kL];
};

inline I load(const void* p) {
    I x;
    __builtin_memcpy(&x, p, sizeof(x));
    return x;
}
inline void store(void* p, I x) { __builtin_memcpy(p, &x, sizeof(x)); }
inline F load_float(const float* p) {
    F x;
    __builtin_memcpy(&x, p, sizeof(x));
    return x;
}
inline void store_float(float* p, F x) { __builtin_memcpy(p, &x, sizeof(x)); }
inline I set(std::int32_t x) { return {{x, x, x, x}}; }
inline F set_float(float x) { return {{x, x, x, x}}; }
inline F zero_float() { return set_float(0.0F); }

inline std::uint32_t as_unsigned(std::int32_t x) { return static_cast<std::uint32_t>(x); }
inline std::int32_t as_signed(std::uint32_t x) { return static_cast<std::int32_t>(x); }
// Lane by lane; integers wrap around.
#define ASSAY_LANES(type, name, expression)          \
    inline type name(type a, type b) {               \
        type out;                                    \
        for (std::size_t i = 0; i < kL; ++i) {       \
            const auto x = a.lane[i], y = b.lane[i]; \
            out.lane[i] = expression;                \
        }                                            \
        return out;                                  \
    }
ASSAY_LANES(F, add, x + y)
ASSAY_LANES(F, mul, x* y)
ASSAY_LANES(I, add, as_signed(as_unsigned(x) + as_unsigned(y)))
ASSAY_LANES(I, sub, as_signed(as_unsigned(x) - as_unsigned(y)))
ASSAY_LANES(I, bit_and, x& y)
ASSAY_LANES(I, bit_or, x | y)
ASSAY_LANES(I, max, x > y ? x : y)
ASSAY_LANES(I, min, x < y ? x : y)
#undef ASSAY_LANES

/// Whether a bit is set.
inline bool any(I x) { return (x.lane[0] | x.lane[1] | x.lane[2] | x.lane[3]) != 0; }

template <int n>
inline I shift_left(I a) {
    for (std::int32_t& x : a.lane) x = as_signed(as_unsigned(x) << static_cast<unsigned>(n));
    return a;
}
template <int n>
inline I shift_right(I a) {
    for (std::int32_t& x : a.lane) x >>= n;
    return a;
}
/// Adds the upper 16 bits of `sum`, as a signed number, to what is at `high`, and leaves the others.
inline void move_upper(I& sum, void* high) {
    store(high, add(load(high), shift_right<16>(sum)));
    sum = bit_and(sum, set(0xffff));
}
inline F to_float(I x) {
    F out;
    for (std::size_t i = 0; i < kL; ++i) out.lane[i] = static_cast<float>(x.lane[i]);
    return out;
}
/// A bit for each lane that is `limit` or more, or no number.
inline std::uint32_t not_below(F x, float limit) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kL; ++i) bits |= x.lane[i] < limit ? 0U : 1U << i;
    return bits;
}
/// What lies at p becomes the larger of it and x, or x itself.
inline void keep_largest(void* p, F x, bool first) {
    const F before = first ? x : load_float(static_cast<const float*>(p));
    for (std::size_t i = 0; i < kL; ++i) x.lane[i] = before.lane[i] > x.lane[i] ? before.lane[i] : x.lane[i];
    store_float(static_cast<float*>(p), x);
}

/// Magnitude of a float as an integer.
inline I magnitude(F x) {
    I out;
    __builtin_memcpy(&out, &x, sizeof(x));
    return bit_and(out, set(0x7fffffff));
}
inline std::int32_t largest(I x) {
    std::int32_t most = x.lane[0];
    for (const std::int32_t lane : x.lane) most = lane > most ? lane : most;
    return most;
}

/// Multiplication by a power of two between 2^-126 and 2^148 in two steps. A number that needs the second is
/// below 2^-105, so the first is exact.
struct Power {
    F first, second;
};
inline F power_of_two(I exponent) {
    const I bits = shift_left<23>(add(exponent, set(127)));
    F out;
    __builtin_memcpy(&out, &bits, sizeof(bits));
    return out;
}
inline Power power(I exponent) {
    const I first = min(exponent, set(127));
    return {power_of_two(first), power_of_two(sub(exponent, first))};
}
/// RNE(x · 2^power), as the law has it. `kOnce`: powers of at most kMostOnce.
template <bool kOnce>
inline I to_integer(F x, Power p) {
    constexpr double kUlpOne = 0x1.8p52;
    I out;
    for (std::size_t i = 0; i < kL; ++i) {
        const float once = x.lane[i] * p.first.lane[i];
        const double scaled = static_cast<double>(kOnce ? once : once * p.second.lane[i]);
        const double rounded = (scaled + kUlpOne) - kUlpOne;
        // After a divergence numbers may be infinite or none. What comes of them is looked at by nobody, but
        // the language gives such a conversion no result.
        out.lane[i] = rounded >= -0x1p31 && rounded < 0x1p31 ? static_cast<std::int32_t>(rounded) : 0;
    }
    return out;
}

/// The lanes of x, then of y, as 16 bits each. REQUIRES numbers that fit.
inline void store_narrow(void* p, I x, I y) {
    std::int16_t narrow[2 * kL];
    for (std::size_t i = 0; i < kL; ++i) {
        narrow[i] = static_cast<std::int16_t>(x.lane[i]);
        narrow[kL + i] = static_cast<std::int16_t>(y.lane[i]);
    }
    __builtin_memcpy(p, narrow, sizeof(narrow));
}

inline float finish_one(double sum, std::int32_t exponent) {
    const auto bits = static_cast<std::uint64_t>(1023 + exponent) << 52U;
    return static_cast<float>(static_cast<double>(static_cast<float>(sum)) *
                              __builtin_bit_cast(double, bits));
}
inline double wide(I hi, I lo, std::size_t i, double unit) {
    return static_cast<double>(hi.lane[i]) * unit + static_cast<double>(lo.lane[i]);
}

/// RNE32(unit·hi + lo) · 2^exponent, rounded once more if that is subnormal. `kShort`: |hi|, |lo| <= 2^24
/// and unit 65,536.
template <bool kShort>
inline F finish(I hi, I lo, I exponent, double unit = 65536.0) {
    F out;
    for (std::size_t i = 0; i < kL; ++i) out.lane[i] = finish_one(wide(hi, lo, i, unit), exponent.lane[i]);
    return out;
}

/// out row r, lane i (rows `out_stride` apart) = in row i, lane r: 4 × 4 numbers of 32 bits.
inline void transpose(const std::int32_t* in, std::size_t in_stride, std::int32_t* out,
                      std::size_t out_stride) {
    for (std::size_t i = 0; i < kL; ++i) {
        for (std::size_t r = 0; r < kL; ++r) out[r * out_stride + i] = in[i * in_stride + r];
    }
}
