// SPDX-License-Identifier: Apache-2.0
// Vectors as the lane set of the law (contracts/arithmetic/elementary-inl.hpp), and loops over spans whose
// last, partial vector goes through a buffer. Included once per target inside its namespace: no guard.

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;
#if HWY_TARGET == HWY_NEON
inline constexpr std::size_t kN = 4;
#elif HWY_TARGET == HWY_AVX2
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

// What streams through a kernel is fetched a page ahead: a processor's own prefetchers stop at the end of a
// page and take some misses to start again. Past the end of an array it is only a hint.
inline constexpr std::size_t kFetchAhead = 4096 / sizeof(float);
HWY_INLINE V load_ahead(const float* p) {
    __builtin_prefetch(p + kFetchAhead);
    return load(p);
}
HWY_INLINE void store_ahead(V v, float* p) {
    __builtin_prefetch(p + kFetchAhead, 1);
    store(v, p);
}

// Loads the first `count` < kN floats of p and zeros. Reads nothing beyond them.
#if HWY_TARGET == HWY_NEON
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
#else
inline V load_part(const float* p, std::size_t count) {
    return hn::MaskedLoad(hn::FirstN(D(), count), D(), p);
}
inline void store_part(V v, float* p, std::size_t count) {
    hn::BlendedStore(v, hn::FirstN(D(), count), D(), p);
}
#endif

// Remembers whether it saw an infinity or a NaN.
class FiniteWatch {
public:
    HWY_INLINE FiniteWatch() : worst_(hn::Zero(DI())) {}  // an implicit one would lack the target attribute
    HWY_INLINE void see(V v) { worst_ = hn::Max(worst_, hn::And(L::bits(v), exponent())); }
    HWY_INLINE void add(const FiniteWatch& other) { worst_ = hn::Max(worst_, other.worst_); }
    HWY_INLINE V pass(V v) {
        see(v);
        return v;
    }
    [[nodiscard]] HWY_INLINE bool good() const { return hn::AllTrue(DI(), hn::Lt(worst_, exponent())); }

private:
    static HWY_INLINE VI exponent() { return L::seti(0x7f800000); }
    VI worst_;
};
inline bool finite(float v) { return (__builtin_bit_cast(std::uint32_t, v) & 0x7f800000U) != 0x7f800000U; }

// Calls whole(i) for each vector that starts at i, then part(i, count) for what is left.
template <class Whole, class Part>
HWY_INLINE void for_vectors(std::size_t n, const Whole& whole, const Part& part) {
    std::size_t i = 0;
    for (; i + kN <= n; i += kN) whole(i);
    if (i < n) part(i, n - i);
}

inline void watch_row(const float* x, std::size_t n, FiniteWatch& watch) {
    for_vectors(
        n, [&](std::size_t i) HWY_ATTR { watch.see(load(x + i)); },
        [&](std::size_t i, std::size_t count) HWY_ATTR { watch.see(load_part(x + i, count)); });
}

// y[i] = f(x[i]); y may be x. True when every y is finite.
template <class Function>
HWY_INLINE bool map1(std::size_t n, const float* x, float* y, const Function& f) {
    FiniteWatch watch;
    for_vectors(
        n, [&](std::size_t i) HWY_ATTR { store_ahead(watch.pass(f(load_ahead(x + i))), y + i); },
        [&](std::size_t i, std::size_t count) HWY_ATTR {
            const V v = f(load_part(x + i, count));
            store_part(v, y + i, count);
            watch.see(load_part(y + i, count));
        });
    return watch.good();
}
// y[i] = f(a[i], b[i]); y may be a or b. `kStreams` false: b is the same for many calls, and so in the cache.
template <bool kStreams = true, class Function>
HWY_INLINE bool map2(std::size_t n, const float* a, const float* b, float* y, const Function& f) {
    FiniteWatch watch;
    for_vectors(
        n,
        [&](std::size_t i) HWY_ATTR {
            store_ahead(watch.pass(f(load_ahead(a + i), kStreams ? load_ahead(b + i) : load(b + i))), y + i);
        },
        [&](std::size_t i, std::size_t count) HWY_ATTR {
            const V v = f(load_part(a + i, count), load_part(b + i, count));
            store_part(v, y + i, count);
            watch.see(load_part(y + i, count));
        });
    return watch.good();
}

// y[i] = f(a[i], b[i], c[i]); y may be any of them. Rows of layer norms go through it, which a
// sum has just read.
template <class Function>
HWY_INLINE bool map3(std::size_t n, const float* a, const float* b, const float* c, float* y,
                     const Function& f) {
    FiniteWatch watch;
    for_vectors(
        n,
        [&](std::size_t i)
            HWY_ATTR { store_ahead(watch.pass(f(load(a + i), load(b + i), load(c + i))), y + i); },
        [&](std::size_t i, std::size_t count) HWY_ATTR {
            store_part(f(load_part(a + i, count), load_part(b + i, count), load_part(c + i, count)), y + i,
                       count);
            watch.see(load_part(y + i, count));
        });
    return watch.good();
}

// lane[j] = lane[j] + lane[j+s] for s = half the lanes, …, 1.
template <class DD>
HWY_INLINE float fold_vector(DD, hn::Vec<DD> v) {
    if constexpr (hn::MaxLanes(DD()) == 1) {
        return hn::GetLane(v);
    } else {
        const hn::Half<DD> half;
        return fold_vector(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    }
}
// The 32 lanes of a row sum (arithmetic::lane_sum), which take the row's elements in order.
struct RowLanes {
    V lanes[kVectors];
    HWY_INLINE RowLanes() {
        for (V& lane : lanes) lane = hn::Zero(D());
    }
    [[nodiscard]] HWY_INLINE float sum() const {
        V all[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v) all[v] = lanes[v];
        for (std::size_t s = kVectors / 2; s > 0; s /= 2) {
            for (std::size_t v = 0; v < s; ++v) all[v] = hn::Add(all[v], all[v + s]);
        }
        return fold_vector(D(), all[0]);
    }
};
// Calls step(lane, i) for each vector of a row, then part(lane, i, count) for a last partial one. Both return
// the new lane. An absent element does not change its lane.
template <class Step, class Part>
HWY_INLINE float sum_row(std::size_t n, const Step& step, const Part& part) {
    RowLanes row;
    std::size_t i = 0;
    for (; i + arithmetic::kLanes <= n; i += arithmetic::kLanes) {
        for (std::size_t v = 0; v < kVectors; ++v) row.lanes[v] = step(row.lanes[v], i + v * kN);
    }
    for (std::size_t v = 0; v < kVectors && i < n; ++v, i += kN) {
        if (i + kN <= n) {
            row.lanes[v] = step(row.lanes[v], i);
        } else {
            const V next = part(row.lanes[v], i, n - i);
            row.lanes[v] = hn::IfThenElse(hn::FirstN(D(), n - i), next, row.lanes[v]);
        }
    }
    return row.sum();
}
inline float row_sum(const float* x, std::size_t n) {
    return sum_row(
        n, [&](V lane, std::size_t i) HWY_ATTR { return hn::Add(lane, load_ahead(x + i)); },
        [&](V lane, std::size_t i, std::size_t count)
            HWY_ATTR { return hn::Add(lane, load_part(x + i, count)); });
}
inline float row_dot(const float* a, const float* b, std::size_t n) {
    return sum_row(
        n,
        [&](V lane, std::size_t i)
            HWY_ATTR { return hn::MulAdd(load_ahead(a + i), load_ahead(b + i), lane); },
        [&](V lane, std::size_t i, std::size_t count)
            HWY_ATTR { return hn::MulAdd(load_part(a + i, count), load_part(b + i, count), lane); });
}
// The largest element by the law's definition: among zeros of both signs the first one.
inline float row_max(const float* x, std::size_t n) {
    float best = x[0];
    std::size_t i = 0;
    if (n >= 4 * kN) {
        V most[4];
        for (std::size_t v = 0; v < 4; ++v) most[v] = load(x + v * kN);
        for (i = 4 * kN; i + 4 * kN <= n; i += 4 * kN) {
            for (std::size_t v = 0; v < 4; ++v) most[v] = hn::Max(most[v], load_ahead(x + i + v * kN));
        }
        const V pair = hn::Max(hn::Max(most[0], most[1]), hn::Max(most[2], most[3]));
        best = hn::GetLane(hn::MaxOfLanes(D(), pair));
    }
    for (; i + kN <= n; i += kN) {
        const float most = hn::GetLane(hn::MaxOfLanes(D(), load(x + i)));
        best = best < most ? most : best;
    }
    for (; i < n; ++i) best = best < x[i] ? x[i] : best;
    if (best == 0.0F) {
        for (i = 0; i < n; ++i) {
            if (x[i] == 0.0F) return x[i];
        }
    }
    return best;
}
