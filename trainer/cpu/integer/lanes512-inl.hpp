// SPDX-License-Identifier: Apache-2.0
// 16 lanes of AVX-512 (F, BW, DQ, VL) under the names that the common code uses. Included once per target
// inside its namespace: no guard.

inline constexpr std::size_t kL = 16;
using I = __m512i;
using F = __m512;

inline I load(const void* p) { return _mm512_loadu_si512(p); }
inline void store(void* p, I x) { _mm512_storeu_si512(p, x); }
inline F load_float(const float* p) { return _mm512_loadu_ps(p); }
inline void store_float(float* p, F x) { _mm512_storeu_ps(p, x); }
inline I set(std::int32_t x) { return _mm512_set1_epi32(x); }
inline F set_float(float x) { return _mm512_set1_ps(x); }
inline F zero_float() { return _mm512_setzero_ps(); }
inline F add(F a, F b) { return _mm512_add_ps(a, b); }
inline F mul(F a, F b) { return _mm512_mul_ps(a, b); }

inline I add(I a, I b) { return _mm512_add_epi32(a, b); }
inline I sub(I a, I b) { return _mm512_sub_epi32(a, b); }
inline I bit_and(I a, I b) { return _mm512_and_si512(a, b); }
inline I bit_or(I a, I b) { return _mm512_or_si512(a, b); }
inline I bit_xor(I a, I b) { return _mm512_xor_si512(a, b); }
/// Whether a bit is set.
inline bool any(I x) { return _mm512_test_epi32_mask(x, x) != 0; }
inline I max(I a, I b) { return _mm512_max_epi32(a, b); }
template <int n>
inline I shift_left(I a) {
    return _mm512_slli_epi32(a, n);
}
template <int n>
inline I shift_right(I a) {
    return _mm512_srai_epi32(a, n);
}
/// Adds the upper 16 bits of `sum`, as a signed number, to `high`, and leaves the others. As assembly,
/// because GCC 12 adds to a copy.
inline void move_upper(I& sum, I& high) {
    I upper;
    asm("vpsrad $16, %0, %2\n\tvpandd %3, %0, %0\n\tvpaddd %2, %1, %1"
        : "+v"(sum), "+v"(high), "=&v"(upper)
        : "v"(set(0xffff)));
}
/// 32 numbers of 16 bits.
inline I add16(I a, I b) { return _mm512_add_epi16(a, b); }
template <int n>
inline I shift_left16(I a) {
    return _mm512_slli_epi16(a, n);
}
template <int n>
inline I shift_right16(I a) {
    return _mm512_srai_epi16(a, n);
}

inline F to_float(I x) { return _mm512_cvtepi32_ps(x); }
/// A bit for each lane that is `limit` or more, or no number.
inline std::uint32_t not_below(F x, float limit) {
    return _mm512_cmp_ps_mask(x, set_float(limit), _CMP_NLT_UQ);
}
/// What lies at p becomes the larger of it and x, or x itself.
inline void keep_largest(void* p, F x, bool first) {
    auto* at = static_cast<float*>(p);
    store_float(at, first ? x : _mm512_max_ps(x, load_float(at)));
}
/// The same of the eight sums of lane i and lane i + 8.
inline void keep_largest_folded(void* p, F x, bool first) {
    const __m256 sums = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    auto* at = static_cast<float*>(p);
    _mm256_storeu_ps(at, first ? sums : _mm256_max_ps(sums, _mm256_loadu_ps(at)));
}

/// Magnitude of a float as an integer.
inline I magnitude(F x) { return bit_and(_mm512_castps_si512(x), set(0x7fffffff)); }
inline std::int32_t largest(I x) { return _mm512_reduce_max_epi32(x); }

/// Multiplication by powers of two from 2^-126 on, exact but for a result below the normal numbers.
struct Power {
    F exponent;
    F factor;  ///< of powers up to kMostOnce
};
inline Power power(I exponent) {
    return {_mm512_cvtepi32_ps(exponent), _mm512_castsi512_ps(shift_left<23>(add(exponent, set(127))))};
}
/// RNE(x · 2^power). `kOnce`: powers of at most kMostOnce.
template <bool kOnce>
inline I to_integer(F x, Power p) {
    return _mm512_cvtps_epi32(kOnce ? mul(x, p.factor) : _mm512_scalef_ps(x, p.exponent));
}

// What packing two vectors leaves in lanes of 128 bits, in order.
inline I in_order(I packed) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed);
}

/// The lanes of x, then of y, as 16 bits each. REQUIRES numbers that fit.
inline void store_narrow(void* p, I x, I y) { store(p, in_order(_mm512_packs_epi32(x, y))); }

inline __m512d low_half(I x) { return _mm512_cvtepi32_pd(_mm512_castsi512_si256(x)); }
inline __m512d high_half(I x) { return _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(x, 1)); }
inline F narrow(__m512d low, __m512d high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
inline __m512d times_plus(__m512d a, double b, __m512d c) { return _mm512_fmadd_pd(a, _mm512_set1_pd(b), c); }

/// The numbers of 16 bits of x, then of y, as bytes, each four in the order k, k + 2, k + 1, k + 3. REQUIRES
/// numbers that fit.
inline void store_bytes(void* p, I x, I y) {
    const I order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15));
    store(p, _mm512_shuffle_epi8(in_order(_mm512_packs_epi16(x, y)), order));
}

/// RNE32(unit·hi + lo) · 2^exponent, rounded once more if that is subnormal. `kShort`: |hi|, |lo| <= 2^24
/// and unit 65,536.
template <bool kShort>
inline F finish(I hi, I lo, I exponent, double unit = 65536.0) {
    F rounded;
    if constexpr (kShort) {
        rounded = _mm512_fmadd_ps(_mm512_cvtepi32_ps(hi), set_float(65536.0F), _mm512_cvtepi32_ps(lo));
    } else {
        rounded = narrow(times_plus(low_half(hi), unit, low_half(lo)),
                         times_plus(high_half(hi), unit, high_half(lo)));
    }
    return _mm512_scalef_ps(rounded, _mm512_cvtepi32_ps(exponent));
}
/// The same for any hi, with 0 <= lo < 65,536: of the number's upper part, which binary32 holds, and its
/// lower 24 bits.
inline F finish_split(I hi, I lo, I exponent) {
    const I upper = bit_and(hi, set(~0xff)), lower = bit_or(shift_left<16>(bit_and(hi, set(0xff))), lo);
    const F rounded =
        _mm512_fmadd_ps(_mm512_cvtepi32_ps(upper), set_float(65536.0F), _mm512_cvtepi32_ps(lower));
    return _mm512_scalef_ps(rounded, _mm512_cvtepi32_ps(exponent));
}
/// The same of 2^24·hi + lo. REQUIRES |hi| <= 2^24 and 0 <= lo < 2^24.
inline F finish_short24(I hi, I lo, I exponent) {
    const F rounded = _mm512_fmadd_ps(_mm512_cvtepi32_ps(hi), set_float(0x1p24F), _mm512_cvtepi32_ps(lo));
    return _mm512_scalef_ps(rounded, _mm512_cvtepi32_ps(exponent));
}
/// The same of 256 · (65536·hi + lo) + (65536·hi0 + lo0).
inline F finish24(I hi, I lo, I hi0, I lo0, I exponent) {
    const __m512d low = times_plus(times_plus(low_half(hi), 65536.0, low_half(lo)), 256.0,
                                   times_plus(low_half(hi0), 65536.0, low_half(lo0)));
    const __m512d high = times_plus(times_plus(high_half(hi), 65536.0, high_half(lo)), 256.0,
                                    times_plus(high_half(hi0), 65536.0, high_half(lo0)));
    return _mm512_scalef_ps(narrow(low, high), _mm512_cvtepi32_ps(exponent));
}

/// out row r, lane i (rows `out_stride` apart) = in row i, lane r: 16 × 16 numbers of 32 bits.
inline void transpose(const std::int32_t* in, std::size_t in_stride, std::int32_t* out,
                      std::size_t out_stride) {
    I a[16], b[16];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) a[i] = load(in + i * in_stride);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 16; i += 4) {  // a[i + c]: column 4·lane + c of rows i … i + 3
        a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
        a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
        a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
        a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
#pragma GCC unroll 4
    for (std::size_t c = 0; c < 4; ++c) {
        const I lo01 = _mm512_shuffle_i32x4(a[c], a[c + 4], 0x88);
        const I hi01 = _mm512_shuffle_i32x4(a[c], a[c + 4], 0xdd);
        const I lo23 = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0x88);
        const I hi23 = _mm512_shuffle_i32x4(a[c + 8], a[c + 12], 0xdd);
        store(out + c * out_stride, _mm512_shuffle_i32x4(lo01, lo23, 0x88));
        store(out + (c + 8) * out_stride, _mm512_shuffle_i32x4(lo01, lo23, 0xdd));
        store(out + (c + 4) * out_stride, _mm512_shuffle_i32x4(hi01, hi23, 0x88));
        store(out + (c + 12) * out_stride, _mm512_shuffle_i32x4(hi01, hi23, 0xdd));
    }
}
