// SPDX-License-Identifier: Apache-2.0
// 4 lanes of NEON (AArch64) under the names that the common code uses. Included once per target inside its
// namespace: no guard.

inline constexpr std::size_t kL = 4;
using I = int32x4_t;
using F = float32x4_t;

inline I load(const void* p) { return vreinterpretq_s32_u8(vld1q_u8(static_cast<const std::uint8_t*>(p))); }
inline void store(void* p, I x) { vst1q_u8(static_cast<std::uint8_t*>(p), vreinterpretq_u8_s32(x)); }
inline F load_float(const float* p) { return vld1q_f32(p); }
inline void store_float(float* p, F x) { vst1q_f32(p, x); }
inline I set(std::int32_t x) { return vdupq_n_s32(x); }
inline F set_float(float x) { return vdupq_n_f32(x); }
inline F zero_float() { return vdupq_n_f32(0.0F); }
inline F add(F a, F b) { return vaddq_f32(a, b); }
inline F mul(F a, F b) { return vmulq_f32(a, b); }

inline I add(I a, I b) { return vaddq_s32(a, b); }
inline I sub(I a, I b) { return vsubq_s32(a, b); }
inline I bit_and(I a, I b) { return vandq_s32(a, b); }
inline I bit_or(I a, I b) { return vorrq_s32(a, b); }
/// Whether a bit is set.
inline bool any(I x) { return vmaxvq_u32(vreinterpretq_u32_s32(x)) != 0; }
inline I max(I a, I b) { return vmaxq_s32(a, b); }
inline I min(I a, I b) { return vminq_s32(a, b); }
template <int n>
inline I shift_left(I a) {
    return vshlq_n_s32(a, n);
}
template <int n>
inline I shift_right(I a) {
    return vshrq_n_s32(a, n);
}
/// Adds the upper 16 bits of `sum`, as a signed number, to what is at `high`, and leaves the others.
inline void move_upper(I& sum, void* high) {
    store(high, add(load(high), shift_right<16>(sum)));
    sum = bit_and(sum, set(0xffff));
}
/// 8 numbers of 16 bits.
inline int16x8_t narrow_lanes(I a) { return vreinterpretq_s16_s32(a); }
inline I add16(I a, I b) { return vreinterpretq_s32_s16(vaddq_s16(narrow_lanes(a), narrow_lanes(b))); }
template <int n>
inline I shift_left16(I a) {
    return vreinterpretq_s32_s16(vshlq_n_s16(narrow_lanes(a), n));
}
template <int n>
inline I shift_right16(I a) {
    return vreinterpretq_s32_s16(vshrq_n_s16(narrow_lanes(a), n));
}

inline F to_float(I x) { return vcvtq_f32_s32(x); }
/// A bit for each lane that is `limit` or more, or no number.
inline std::uint32_t not_below(F x, float limit) {
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vbicq_u32(bits, vcltq_f32(x, set_float(limit))));
}
/// What lies at p becomes the larger of it and x, or x itself.
inline void keep_largest(void* p, F x, bool first) {
    auto* at = static_cast<float*>(p);
    vst1q_f32(at, first ? x : vmaxq_f32(x, vld1q_f32(at)));
}

/// Magnitude of a float as an integer.
inline I magnitude(F x) { return bit_and(vreinterpretq_s32_f32(x), set(0x7fffffff)); }
inline std::int32_t largest(I x) { return vmaxvq_s32(x); }

/// Multiplication by a power of two between 2^-126 and 2^148 in two steps. A number that needs the second is
/// below 2^-105, so the first is exact.
struct Power {
    F first, second;
};
inline F power_of_two(I exponent) { return vreinterpretq_f32_s32(shift_left<23>(add(exponent, set(127)))); }
inline Power power(I exponent) {
    const I first = min(exponent, set(127));
    return {power_of_two(first), power_of_two(sub(exponent, first))};
}
/// RNE(x · 2^power). `kOnce`: powers of at most kMostOnce.
template <bool kOnce>
inline I to_integer(F x, Power p) {
    const F scaled = mul(x, p.first);
    return vcvtnq_s32_f32(kOnce ? scaled : mul(scaled, p.second));
}

/// The lanes of x, then of y, as 16 bits each. REQUIRES numbers that fit.
inline void store_narrow(void* p, I x, I y) {
    vst1q_u8(static_cast<std::uint8_t*>(p), vreinterpretq_u8_s16(vcombine_s16(vmovn_s32(x), vmovn_s32(y))));
}

/// The numbers of 16 bits of x, then of y, as bytes, each four in the order k, k + 2, k + 1, k + 3. REQUIRES
/// numbers that fit.
inline void store_bytes(void* p, I x, I y) {
    const std::uint8_t places[16] = {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15};
    const int8x16_t bytes =
        vcombine_s8(vmovn_s16(vreinterpretq_s16_s32(x)), vmovn_s16(vreinterpretq_s16_s32(y)));
    vst1q_u8(static_cast<std::uint8_t*>(p), vqtbl1q_u8(vreinterpretq_u8_s8(bytes), vld1q_u8(places)));
}

// Halves as binary64.
inline float64x2_t low_half(I x) { return vcvtq_f64_s64(vmovl_s32(vget_low_s32(x))); }
inline float64x2_t high_half(I x) { return vcvtq_f64_s64(vmovl_high_s32(x)); }
inline float64x2_t times_plus(float64x2_t a, double b, float64x2_t c) {
    return vfmaq_f64(c, a, vdupq_n_f64(b));
}
// RNE32(sum) · 2^exponent, rounded once more if that is subnormal.
inline float32x2_t finish_half(float64x2_t sum, int64x2_t exponent) {
    const int64x2_t bits = vshlq_n_s64(vaddq_s64(exponent, vdupq_n_s64(1023)), 52);
    return vcvt_f32_f64(vmulq_f64(vcvt_f64_f32(vcvt_f32_f64(sum)), vreinterpretq_f64_s64(bits)));
}
inline F finish_halves(float64x2_t low, float64x2_t high, I exponent) {
    return vcombine_f32(finish_half(low, vmovl_s32(vget_low_s32(exponent))),
                        finish_half(high, vmovl_high_s32(exponent)));
}

/// RNE32(unit·hi + lo) · 2^exponent, rounded once more if that is subnormal. `kShort`: |hi|, |lo| <= 2^24
/// and unit 65,536.
template <bool kShort>
inline F finish(I hi, I lo, I exponent, double unit = 65536.0) {
    return finish_halves(times_plus(low_half(hi), unit, low_half(lo)),
                         times_plus(high_half(hi), unit, high_half(lo)), exponent);
}
/// The same of 256 · (65536·hi + lo) + (65536·hi0 + lo0).
inline F finish24(I hi, I lo, I hi0, I lo0, I exponent) {
    const float64x2_t low = times_plus(times_plus(low_half(hi), 65536.0, low_half(lo)), 256.0,
                                       times_plus(low_half(hi0), 65536.0, low_half(lo0)));
    const float64x2_t high = times_plus(times_plus(high_half(hi), 65536.0, high_half(lo)), 256.0,
                                        times_plus(high_half(hi0), 65536.0, high_half(lo0)));
    return finish_halves(low, high, exponent);
}

/// out row r, lane i (rows `out_stride` apart) = in row i, lane r: 4 × 4 numbers of 32 bits.
inline void transpose(const std::int32_t* in, std::size_t in_stride, std::int32_t* out,
                      std::size_t out_stride) {
    const I a = load(in), b = load(in + in_stride), c = load(in + 2 * in_stride),
            d = load(in + 3 * in_stride);
    const I ac0 = vzip1q_s32(a, c), ac1 = vzip2q_s32(a, c), bd0 = vzip1q_s32(b, d), bd1 = vzip2q_s32(b, d);
    store(out, vzip1q_s32(ac0, bd0));
    store(out + out_stride, vzip2q_s32(ac0, bd0));
    store(out + 2 * out_stride, vzip1q_s32(ac1, bd1));
    store(out + 3 * out_stride, vzip2q_s32(ac1, bd1));
}
