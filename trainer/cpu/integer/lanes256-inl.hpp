// SPDX-License-Identifier: Apache-2.0
// 8 lanes of AVX2 under the names that the common code uses. Included once per target inside its namespace:
// no guard.

inline constexpr std::size_t kL = 8;
using I = __m256i;
using F = __m256;

inline I load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline void store(void* p, I x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }
inline F load_float(const float* p) { return _mm256_loadu_ps(p); }
inline void store_float(float* p, F x) { _mm256_storeu_ps(p, x); }
inline I set(std::int32_t x) { return _mm256_set1_epi32(x); }
inline F set_float(float x) { return _mm256_set1_ps(x); }
inline F zero_float() { return _mm256_setzero_ps(); }
inline F add(F a, F b) { return _mm256_add_ps(a, b); }
inline F mul(F a, F b) { return _mm256_mul_ps(a, b); }

inline I add(I a, I b) { return _mm256_add_epi32(a, b); }
inline I sub(I a, I b) { return _mm256_sub_epi32(a, b); }
inline I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
inline I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
inline I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
/// Whether a bit is set.
inline bool any(I x) { return _mm256_testz_si256(x, x) == 0; }
inline I max(I a, I b) { return _mm256_max_epi32(a, b); }
inline I min(I a, I b) { return _mm256_min_epi32(a, b); }
template <int n>
inline I shift_left(I a) {
    return _mm256_slli_epi32(a, n);
}
template <int n>
inline I shift_right(I a) {
    return _mm256_srai_epi32(a, n);
}
/// Adds the upper 16 bits of `sum`, as a signed number, to what is at `high`, and leaves the others. As
/// assembly, because GCC 12 keeps the mask in a register, and a sum of a tile on the stack instead.
inline void move_upper(I& sum, void* high) {
    alignas(32) static constexpr std::int32_t kLow[kL] = {0xffff, 0xffff, 0xffff, 0xffff,
                                                          0xffff, 0xffff, 0xffff, 0xffff};
    I upper;
    asm("vpsrad $16, %0, %1\n\tvpand %3, %0, %0\n\tvpaddd %2, %1, %1\n\tvmovdqu %1, %2"
        : "+x"(sum), "=&x"(upper), "+m"(*static_cast<I*>(high))
        : "m"(kLow));
}
/// 16 numbers of 16 bits.
inline I add16(I a, I b) { return _mm256_add_epi16(a, b); }
template <int n>
inline I shift_right16(I a) {
    return _mm256_srai_epi16(a, n);
}

inline F to_float(I x) { return _mm256_cvtepi32_ps(x); }
/// A bit for each lane that is `limit` or more, or no number.
inline std::uint32_t not_below(F x, float limit) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(x, set_float(limit), _CMP_NLT_UQ)));
}
/// What lies at p becomes the larger of it and x, or x itself.
inline void keep_largest(void* p, F x, bool first) {
    auto* at = static_cast<float*>(p);
    _mm256_storeu_ps(at, first ? x : _mm256_max_ps(x, _mm256_loadu_ps(at)));
}

/// Magnitude of a float as an integer.
inline I magnitude(F x) { return bit_and(_mm256_castps_si256(x), set(0x7fffffff)); }
inline std::int32_t largest(I x) {
    alignas(32) std::int32_t lanes[kL];
    store(lanes, x);
    std::int32_t most = lanes[0];
    for (const std::int32_t lane : lanes) most = lane > most ? lane : most;
    return most;
}

/// Multiplication by a power of two between 2^-126 and 2^148 in two steps. A number that needs the second is
/// below 2^-105, so the first is exact.
struct Power {
    F first, second;
};
inline F power_of_two(I exponent) { return _mm256_castsi256_ps(shift_left<23>(add(exponent, set(127)))); }
inline Power power(I exponent) {
    const I first = min(exponent, set(127));
    return {power_of_two(first), power_of_two(sub(exponent, first))};
}
/// RNE(x · 2^power). `kOnce`: powers of at most kMostOnce.
template <bool kOnce>
inline I to_integer(F x, Power p) {
    const F scaled = mul(x, p.first);
    return _mm256_cvtps_epi32(kOnce ? scaled : mul(scaled, p.second));
}

/// The lanes of x, then of y, as 16 bits each. REQUIRES numbers that fit.
inline void store_narrow(void* p, I x, I y) {
    store(p, _mm256_permute4x64_epi64(_mm256_packs_epi32(x, y), 0xd8));
}

/// The numbers of 16 bits of x, then of y, as bytes, each four in the order k, k + 2, k + 1, k + 3. REQUIRES
/// numbers that fit.
inline void store_bytes(void* p, I x, I y) {
    const I order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15));
    store(p, _mm256_shuffle_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi16(x, y), 0xd8), order));
}

// Halves as binary64.
inline __m256d low_half(I x) { return _mm256_cvtepi32_pd(_mm256_castsi256_si128(x)); }
inline __m256d high_half(I x) { return _mm256_cvtepi32_pd(_mm256_extracti128_si256(x, 1)); }
inline __m256d times_plus(__m256d a, double b, __m256d c) { return _mm256_fmadd_pd(a, _mm256_set1_pd(b), c); }
// RNE32(sum) · 2^exponent, rounded once more if that is subnormal.
inline __m128 finish_half(__m256d sum, __m128i exponent) {
    const __m256i biased = _mm256_add_epi64(_mm256_cvtepi32_epi64(exponent), _mm256_set1_epi64x(1023));
    const __m256d scale = _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
    return _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(_mm256_cvtpd_ps(sum)), scale));
}
inline F finish_halves(__m256d low, __m256d high, I exponent) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(finish_half(low, _mm256_castsi256_si128(exponent))),
                                finish_half(high, _mm256_extracti128_si256(exponent, 1)), 1);
}

/// RNE32(unit·hi + lo) · 2^exponent, rounded once more if that is subnormal. `kShort`: |hi|, |lo| <= 2^24
/// and unit 65,536.
template <bool kShort>
inline F finish(I hi, I lo, I exponent, double unit = 65536.0) {
    return finish_halves(times_plus(low_half(hi), unit, low_half(lo)),
                         times_plus(high_half(hi), unit, high_half(lo)), exponent);
}

/// out row r, lane i (rows `out_stride` apart) = in row i, lane r: 8 × 8 numbers of 32 bits.
inline void transpose(const std::int32_t* in, std::size_t in_stride, std::int32_t* out,
                      std::size_t out_stride) {
    I a[8], b[8];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) a[i] = load(in + i * in_stride);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
    }
#pragma GCC unroll 2
    for (std::size_t i = 0; i < 8; i += 4) {  // a[i + c]: column 4·lane + c of rows i … i + 3
        a[i] = _mm256_unpacklo_epi64(b[i], b[i + 2]);
        a[i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 2]);
        a[i + 2] = _mm256_unpacklo_epi64(b[i + 1], b[i + 3]);
        a[i + 3] = _mm256_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
#pragma GCC unroll 4
    for (std::size_t c = 0; c < 4; ++c) {
        store(out + c * out_stride, _mm256_permute2x128_si256(a[c], a[c + 4], 0x20));
        store(out + (c + 4) * out_stride, _mm256_permute2x128_si256(a[c], a[c + 4], 0x31));
    }
}
