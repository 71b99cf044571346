// SPDX-License-Identifier: Apache-2.0
// Multiplication by sums of 16-bit pairs in runs of eight k. A run begins with what is left of the sums
// before, 0 <= l < 2^16, and adds four pairs. If
//   |l + sum of v_a · v_b over the run| < 2^31
// for every row and column of the tile, the 32 bits are the sum, so that its upper 16 bits go to `hi` and its
// lower 16 stay. By Cauchy and Schwarz that holds where the largest sum of squares of a row over the run,
// times the largest of a column, is at most (2^31 − 2^16)^2; packing leaves these energies with each panel.
// Where it may not hold, upper bits are moved after half of the run, whose energies are known too, or after
// every pair: one is at most 2 · 32,639² < 2^31 − 2^16. So each pair of k takes one dot product.
// Moving takes three instructions a sum (four where `hi` is in memory), once for four dot products, or for
// two, or for one.
//
// A unit of A: kRows rows of kUnit numbers of 16 bits. A unit of B: for each pair of k the pairs of kCols
// columns. Half-run h of a unit is its pairs h and h + 16; run r is the half-runs r and r + 8. After all
// units of a panel come the energies of half-runs, kUnitHalves for each unit, then those of runs. Included
// once per target inside its namespace, after tile_vectors-inl.hpp and dot_pairs(): no guard.

inline constexpr std::uint64_t kChunk = 256;
inline constexpr std::uint64_t kChunkUnits = kChunk / kUnit;
inline constexpr std::uint64_t kUnitBytesA = kRows * kUnit * 2;
inline constexpr std::uint64_t kUnitBytesB = kCols * kUnit * 2;
inline constexpr std::size_t kUnitRuns = 8;
inline constexpr std::size_t kUnitHalves = 16;
inline constexpr std::uint64_t kUnitEnergies = kUnitHalves + kUnitRuns;
static_assert(2 * 32'639 * 32'639 + 65'535 < (1ULL << 31U));
static_assert(kChunkUnits * kUnitHalves <= 64 && 2 * kUnitHalves == kUnit / 2);
// Below (2^31 − 2^16)² by more than binary32 is off: each energy is a sum of up to four numbers, each
// rounded.
inline constexpr float kEnergyLimit = 0x1.ff8p61F;

inline std::uint64_t panel_bytes(std::uint64_t units, std::uint64_t unit_bytes) {
    const std::uint64_t bytes = units * (unit_bytes + kUnitEnergies * sizeof(float));
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
inline std::uint64_t a_panel_bytes(std::uint64_t depth) { return panel_bytes(units_of(depth), kUnitBytesA); }
inline std::uint64_t b_panel_bytes(std::uint64_t depth) { return panel_bytes(units_of(depth), kUnitBytesB); }

// Sums of squares of pairs of k.
inline F energies_of(I pairs) {
    I sum = set(0);
    dot_pairs(sum, pairs, pairs);
    return to_float(sum);
}

// Where the energies of a unit are.
struct Energies {
    std::byte* halves;
    std::byte* runs;
};
inline Energies energies_at(std::byte* panel, std::uint64_t units, std::uint64_t unit_bytes,
                            std::uint64_t unit) {
    std::byte* all = panel + units * unit_bytes;
    return {all + unit * kUnitHalves * sizeof(float),
            all + (units * kUnitHalves + unit * kUnitRuns) * sizeof(float)};
}

// The energies of a lane's runs from those of its half-runs. `Sum` is always F.
template <class Sum>
inline void keep_runs(std::byte* runs, const Sum* halves, bool first) {
    if constexpr (kL == kUnitHalves) {
        keep_largest_folded(runs, halves[0], first);
    } else {
#pragma GCC unroll 2
        for (std::size_t r = 0; r < kUnitRuns; r += kL) {
            keep_largest(runs + r * sizeof(float), add(halves[r / kL], halves[(r + kUnitRuns) / kL]), first);
        }
    }
}

inline void emit_a(const std::int32_t* numbers, std::byte* panel, std::uint64_t units, std::uint64_t unit,
                   std::uint64_t row) {
    __builtin_memcpy(panel + unit * kUnitBytesA + row * kUnit * 2, numbers, kUnit * 2);
    const Energies energies = energies_at(panel, units, kUnitBytesA, unit);
    F sums[kUnitHalves / kL];
#pragma GCC unroll 4
    for (std::size_t h = 0; h < kUnitHalves; h += kL) {
        F& sum = sums[h / kL];
        sum = add(energies_of(load(numbers + h)), energies_of(load(numbers + h + kUnitHalves)));
        keep_largest(energies.halves + h * sizeof(float), sum, row == 0);
    }
    keep_runs(energies.runs, sums, row == 0);
}

inline void emit_b(const std::int32_t* pairs, std::byte* panel, std::uint64_t units, std::uint64_t unit,
                   std::uint64_t column) {
    std::byte* out = panel + unit * kUnitBytesB + column * 4;
    const Energies energies = energies_at(panel, units, kUnitBytesB, unit);
    const auto keep = [column](std::byte* at, F sums) {
        std::int32_t most = largest(magnitude(sums)), before = 0;
        if (column != 0) __builtin_memcpy(&before, at, sizeof(before));
        if (before > most) most = before;
        __builtin_memcpy(at, &most, sizeof(most));
    };
    const auto half = [&](std::size_t h) {
        const I x = load(pairs + h * kL), y = load(pairs + (h + kUnitHalves) * kL);
        store(out + h * kCols * 4, x);
        store(out + (h + kUnitHalves) * kCols * 4, y);
        const F sum = add(energies_of(x), energies_of(y));
        keep(energies.halves + h * sizeof(float), sum);
        return sum;
    };
    for (std::size_t r = 0; r < kUnitRuns; ++r) {
        keep(energies.runs + r * sizeof(float), add(half(r), half(r + kUnitRuns)));
    }
}

inline void complete_b(std::byte* /*panel*/, std::uint64_t /*units*/) {}

// A bit for each of `count` >= 1 runs, or half-runs, whose sums may not fit.
inline std::uint64_t too_large(const std::byte* energies_a, const std::byte* energies_b, std::size_t count) {
    std::uint64_t bits = 0;
    for (std::size_t r = 0; r < count; r += kL) {
        const auto* a = reinterpret_cast<const float*>(energies_a) + r;
        const auto* b = reinterpret_cast<const float*>(energies_b) + r;
        bits |= std::uint64_t{not_below(mul(load_float(a), load_float(b)), kEnergyLimit)} << r;
    }
    return bits & ~std::uint64_t{0} >> (64 - count);  // panels end in whole vectors
}

struct RunSums {
    I hi[kRows][kVectors], lo[kRows][kVectors];
};

// Adds pair t of a unit from the first of a run on.
inline void add_pair(const std::byte* a, const std::byte* b, std::size_t t, RunSums& sums) {
    add_products(a + t * 4, kUnit * 2, b + t * kCols * 4, dot_pairs, sums.lo);
}

// Machines with few registers have `hi` in memory. `OfTile` is always RunSums; as a template argument it
// delays the look-up of the one move_upper() that the machine has.
template <class OfTile>
inline void move_uppers(OfTile& sums, std::int32_t* hi) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) {
            if constexpr (kHoldsHigh) {
                move_upper(sums.lo[i][v], sums.hi[i][v]);
            } else {
                move_upper(sums.lo[i][v], hi + i * kCols + v * kL);
            }
        }
    }
}

// Lines to fetch ahead in a run, so that a tile's chunk brings the next one of A and its part of B's.
inline constexpr std::uint64_t kChunkRuns = kChunkUnits * kUnitRuns;
inline constexpr std::uint64_t kLinesA = (kChunkUnits * kUnitBytesA / 64 + kChunkRuns - 1) / kChunkRuns;
inline constexpr std::uint64_t kAheadB = kChunkRuns * 64;

// Adds the sum over `units` <= kChunkUnits units from unit `first` on (a multiple of kChunkUnits) of two
// panels of `all` units to `to`, or stores it when it is the first.
[[gnu::noinline]] inline void sum_chunk(const std::byte* a, const std::byte* b, std::uint64_t first,
                                        std::uint64_t units, std::uint64_t all, Ahead ahead, Sums& to) {
    const std::byte *energies_a = a + all * kUnitBytesA, *energies_b = b + all * kUnitBytesB;
    const std::uint64_t runs_at = (all * kUnitHalves + first * kUnitRuns) * sizeof(float);
    const std::uint64_t halves_at = first * kUnitHalves * sizeof(float);
    std::uint64_t runs = too_large(energies_a + runs_at, energies_b + runs_at, units * kUnitRuns), halves = 0;
    if (runs != 0) halves = too_large(energies_a + halves_at, energies_b + halves_at, units * kUnitHalves);
    a += first * kUnitBytesA;
    b += first * kUnitBytesB;
    RunSums sums;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) {
            const std::size_t at = i * kCols + v * kL;
            sums.lo[i][v] = first == 0 ? set(0) : load(to.lo + at);
            if constexpr (kHoldsHigh) sums.hi[i][v] = first == 0 ? set(0) : load(to.hi + at);
            if (!kHoldsHigh && first == 0) store(to.hi + at, set(0));
        }
    }
    for (; units > 0; --units) {
        for (std::size_t r = 0; r < kUnitRuns; ++r) {
            for (std::uint64_t line = 0; line < kLinesA; ++line) __builtin_prefetch(ahead.a + line * 64);
            __builtin_prefetch(ahead.b, 0, 2);
            ahead.a += kLinesA * 64, ahead.b += 64;
            const bool each_half = (runs & 1U) != 0;
            const bool each_pair = each_half && (halves & (1U | 1U << kUnitRuns)) != 0;
            add_pair(a, b, 0, sums);
            if (each_pair) move_uppers(sums, to.hi);
            add_pair(a, b, kUnitHalves, sums);
            if (each_half) move_uppers(sums, to.hi);
            add_pair(a, b, kUnitRuns, sums);
            if (each_pair) move_uppers(sums, to.hi);
            add_pair(a, b, kUnitRuns + kUnitHalves, sums);
            move_uppers(sums, to.hi);
            runs >>= 1U, halves >>= 1U, a += 4, b += kCols * 4;
        }
        halves >>= kUnitHalves - kUnitRuns;
        a += kUnitBytesA - kUnitRuns * 4;
        b += kUnitBytesB - kUnitRuns * kCols * 4;
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) {
            const std::size_t at = i * kCols + v * kL;
            if constexpr (kHoldsHigh) store(to.hi + at, sums.hi[i][v]);
            store(to.lo + at, sums.lo[i][v]);
        }
    }
}
