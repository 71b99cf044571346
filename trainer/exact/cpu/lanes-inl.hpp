// SPDX-License-Identifier: Apache-2.0
// Vectors as the lane set of the law (contracts/arithmetic/elementary-inl.hpp), and loops over spans whose
// last, partial vector goes through a buffer. Included once per target inside its namespace: no guard.

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;
#if HWY_TARGET == HWY_AVX2
inline constexpr std::size_t kN = 8;
#else
inline constexpr std::size_t kN = 16;
#endif
inline constexpr std::size_t kVectors = arithmetic::kLanes / kN;  // vectors that hold the 32 lanes

struct VectorLanes {
    using F = V;
    using I = VI;
    using M = hn::Mask<D>;
    static HWY_INLINE F set(float v) { return hn::Set(D(), v); }
    static HWY_INLINE I seti(int v) { return hn::Set(DI(), v); }
    static HWY_INLINE F add(F a, F b) { return hn::Add(a, b); }
    static HWY_INLINE F sub(F a, F b) { return hn::Sub(a, b); }
    static HWY_INLINE F mul(F a, F b) { return hn::Mul(a, b); }
    static HWY_INLINE F div(F a, F b) { return hn::Div(a, b); }
    static HWY_INLINE F sqrt(F a) { return hn::Sqrt(a); }
    static HWY_INLINE F fma(F a, F b, F c) { return hn::MulAdd(a, b, c); }
    static HWY_INLINE M less(F a, F b) { return hn::Lt(a, b); }
    static HWY_INLINE M lessi(I a, I b) { return hn::RebindMask(D(), hn::Lt(a, b)); }
    static HWY_INLINE F select(M m, F yes, F no) { return hn::IfThenElse(m, yes, no); }
    static HWY_INLINE I selecti(M m, I yes, I no) { return hn::IfThenElse(hn::RebindMask(DI(), m), yes, no); }
    static HWY_INLINE I bits(F a) { return hn::BitCast(DI(), a); }
    static HWY_INLINE F from_bits(I a) { return hn::BitCast(D(), a); }
    static HWY_INLINE I addi(I a, I b) { return hn::Add(a, b); }
    static HWY_INLINE I subi(I a, I b) { return hn::Sub(a, b); }
    static HWY_INLINE I andi(I a, I b) { return hn::And(a, b); }
    static HWY_INLINE I ori(I a, I b) { return hn::Or(a, b); }
    static HWY_INLINE I xori(I a, I b) { return hn::Xor(a, b); }
    template <int n>
    static HWY_INLINE I shl(I a) {
        return hn::ShiftLeft<n>(a);
    }
    template <int n>
    static HWY_INLINE I sar(I a) {
        return hn::ShiftRight<n>(a);
    }
    static HWY_INLINE F to_float(I a) { return hn::ConvertTo(D(), a); }
};

#include "contracts/arithmetic/elementary-inl.hpp"

using L = VectorLanes;

inline V load(const float* p) { return hn::LoadU(D(), p); }
inline void store(V v, float* p) { hn::StoreU(v, D(), p); }

// The first `count` < kN floats of p, the others zero.
inline V load_part(const float* p, std::size_t count) {
    HWY_ALIGN float buffer[kN] = {};
    for (std::size_t i = 0; i < count; ++i) buffer[i] = p[i];
    return hn::Load(D(), buffer);
}
inline void store_part(V v, float* p, std::size_t count) {
    HWY_ALIGN float buffer[kN];
    hn::Store(v, D(), buffer);
    for (std::size_t i = 0; i < count; ++i) p[i] = buffer[i];
}

// y[i] = f(x[i]); y may be x.
template <class Function>
inline void map1(std::size_t n, const float* x, float* y, const Function& f) {
    std::size_t i = 0;
    for (; i + kN <= n; i += kN) store(f(load(x + i)), y + i);
    if (i < n) store_part(f(load_part(x + i, n - i)), y + i, n - i);
}
// y[i] = f(a[i], b[i]); y may be a or b.
template <class Function>
inline void map2(std::size_t n, const float* a, const float* b, float* y, const Function& f) {
    std::size_t i = 0;
    for (; i + kN <= n; i += kN) store(f(load(a + i), load(b + i)), y + i);
    if (i < n) store_part(f(load_part(a + i, n - i), load_part(b + i, n - i)), y + i, n - i);
}

// Sum over the 32 lanes by the fixed tree.
inline float fold(V* lanes, const float* tail, const float* tail2, std::size_t rest) {
    HWY_ALIGN float buffer[arithmetic::kLanes];
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(lanes[v], D(), buffer + v * kN);
    for (std::size_t j = 0; j < rest; ++j) {
        buffer[j] = tail2 == nullptr ? buffer[j] + tail[j] : __builtin_fmaf(tail[j], tail2[j], buffer[j]);
    }
    for (std::size_t s = arithmetic::kLanes / 2; s > 0; s /= 2) {
        for (std::size_t j = 0; j < s; ++j) buffer[j] = buffer[j] + buffer[j + s];
    }
    return buffer[0];
}
inline float row_sum(const float* x, std::size_t n) {
    V lanes[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) lanes[v] = hn::Zero(D());
    std::size_t i = 0;
    for (; i + arithmetic::kLanes <= n; i += arithmetic::kLanes) {
        for (std::size_t v = 0; v < kVectors; ++v) lanes[v] = hn::Add(lanes[v], load(x + i + v * kN));
    }
    return fold(lanes, x + i, nullptr, n - i);
}
inline float row_dot(const float* a, const float* b, std::size_t n) {
    V lanes[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) lanes[v] = hn::Zero(D());
    std::size_t i = 0;
    for (; i + arithmetic::kLanes <= n; i += arithmetic::kLanes) {
        for (std::size_t v = 0; v < kVectors; ++v) {
            lanes[v] = hn::MulAdd(load(a + i + v * kN), load(b + i + v * kN), lanes[v]);
        }
    }
    return fold(lanes, a + i, b + i, n - i);
}
// The largest element, as the definition has it: among zeros of both signs the first one's.
inline float row_max(const float* x, std::size_t n) {
    float best = x[0];
    if (n >= kN) {
        V most = load(x);
        std::size_t i = kN;
        for (; i + kN <= n; i += kN) most = hn::Max(most, load(x + i));
        best = hn::GetLane(hn::MaxOfLanes(D(), most));
        for (; i < n; ++i) best = best < x[i] ? x[i] : best;
    } else {
        for (std::size_t i = 1; i < n; ++i) best = best < x[i] ? x[i] : best;
    }
    if (best == 0.0F) {
        for (std::size_t i = 0; i < n; ++i) {
            if (x[i] == 0.0F) return x[i];
        }
    }
    return best;
}
