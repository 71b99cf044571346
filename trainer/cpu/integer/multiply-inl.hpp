// SPDX-License-Identifier: Apache-2.0
// The loop over tiles of instruction sets that multiply vectors: their sums become outputs, by one rounding
// and the scale of row and column, while a tile is still in the cache (finish-inl.hpp). Included once per
// target inside its namespace, after the others: no guard.

// A region of outputs keeps its sums while the loop goes over k, so that its operands stay in the caches: a
// chunk of a panel of B in the first, a stretch of all panels of the region in the second.
inline constexpr std::size_t kRegionRows = kGroup / kRows;  // panels
inline constexpr std::size_t kRegionCols = kGroup / kCols;
inline constexpr std::uint64_t kStretchUnits = 8;
static_assert(kGroup % kRows == 0 && kGroup % kCols == 0 && kStretchUnits % kChunkUnits == 0);

struct alignas(kAlignment) Region {
    Sums sums[kRegionCols][kRegionRows];
    Sums lowest[kRegionCols][kRegionRows];  // of a 24-bit operand A
};

struct TileFinish : Finish {
    bool wide = false;            // 24 bits on side A
    const float* bias = nullptr;  // of the tile's columns
};

template <bool kShort>
inline F value_of(const Sums& sums, const Sums& lowest, std::size_t at, I exponent, bool wide) {
    if (wide) return finish_wide(sums, lowest, at, exponent);
    return finish<kShort>(load(sums.hi + at), load(sums.lo + at), exponent);
}

template <bool kShort>
inline void finish_row(const Sums& sums, const Sums& lowest, std::uint64_t i, I row_exponent,
                       const std::int32_t* b_exponents, std::uint64_t cols, TileFinish how, float* out,
                       I& worst) {
    for (std::uint64_t j = 0; j < cols; j += kL) {
        const I exponent = add(row_exponent, load(b_exponents + j));
        const F value = value_of<kShort>(sums, lowest, i * kCols + j, exponent, how.wide);
        const float* bias = how.bias == nullptr ? nullptr : how.bias + j;
        if (j + kL <= cols) {
            put(value, how, bias, out + j, worst);
        } else {
            put_some(value, cols - j, how, bias, out + j, worst);
        }
    }
}

// The rows of a tile all of whose columns are outputs. `how` and `most` are local objects: a store of outputs
// may alias any object whose address is known, which would then be read again for each vector.
template <bool kShort, bool kWide, bool kFromZero>
inline void finish_whole(const Sums& sums, const Sums& lowest, std::uint64_t rows,
                         const std::int32_t* a_exponents, const std::int32_t* b_exponents, TileFinish how,
                         float* c, std::uint64_t c_stride, I& worst) {
    I most = worst, columns[kCols / kL];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kCols; j += kL) columns[j / kL] = load(b_exponents + j);
    for (std::uint64_t i = 0; i < rows; ++i, c += c_stride) {
        const I row = set(a_exponents[i]);
#pragma GCC unroll 4
        for (std::size_t j = 0; j < kCols; j += kL) {
            const F value = value_of<kShort>(sums, lowest, i * kCols + j, add(row, columns[j / kL]), kWide);
            const F out = add(kFromZero ? zero_float() : load_float(c + j), value);
            store_float(c + j, follow(out, how, how.bias == nullptr ? nullptr : how.bias + j, most));
        }
    }
    worst = most;
}

// The rows of a tile whose sums are complete.
template <bool kShort>
inline void finish_tile(const Sums& sums, const Sums& lowest, std::uint64_t rows, std::uint64_t cols,
                        const std::int32_t* a_exponents, const std::int32_t* b_exponents, TileFinish how,
                        float* c, std::uint64_t c_stride, I& worst) {
    if (cols == kCols) {
        const auto finish =
            how.wide
                ? (how.from_zero ? finish_whole<kShort, true, true> : finish_whole<kShort, true, false>)
                : (how.from_zero ? finish_whole<kShort, false, true> : finish_whole<kShort, false, false>);
        return finish(sums, lowest, rows, a_exponents, b_exponents, how, c, c_stride, worst);
    }
    I most = worst;
    for (std::uint64_t i = 0; i < rows; ++i) {
        finish_row<kShort>(sums, lowest, i, set(a_exponents[i]), b_exponents, cols, how, c + i * c_stride,
                           most);
    }
    worst = most;
}

// A tile whose sums are complete and are not outputs yet.
template <bool kShort>
struct Remainder {
    bool is_there = false;
    const Sums* sums = nullptr;
    const Sums* lowest = nullptr;
    TileFinish how;
    std::uint64_t rows = 0;  // of the outputs, from here on
    std::uint64_t cols = 0;
    const std::int32_t* a_exponents = nullptr;
    const std::int32_t* b_exponents = nullptr;
    float* c = nullptr;
    std::uint64_t c_stride = 0;

    void finish(I& worst) {
        if (is_there) {
            finish_tile<kShort>(*sums, *lowest, rows, cols, a_exponents, b_exponents, how, c, c_stride,
                                worst);
        }
        is_there = false;
    }
};

// Copies the sums of a tile, as they become outputs, for ProductGuard (guard.hpp).
inline void show_sums(const Sums& sums, const Sums& lowest, bool wide, std::uint64_t rows, std::uint64_t cols,
                      std::int64_t* out) {
    for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t j = 0; j < cols; ++j) {
            const std::size_t at = i * kCols + j;
            out[i * kGroup + j] =
                wide ? wide_sum(sums, lowest, at) : std::int64_t{sums.hi[at]} * 65'536 + sums.lo[at];
        }
    }
}

// Prefetches a tile's outputs while its last sums are computed. Memory beyond the border is not touched.
inline void fetch_outputs(const float* c, std::uint64_t c_stride) {
    for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t j = 0; j < kCols; j += 16) __builtin_prefetch(c + i * c_stride + j, 1);
    }
}

// A block of k of a region: rows, cols <= kGroup.
template <bool kShort>
inline void multiply_region(const Packed& a, const Packed& b, std::uint64_t depth, std::uint64_t rows,
                            std::uint64_t cols, const TileFinish& how, float* c, std::uint64_t c_stride,
                            Region& region, std::int64_t* shown, I& worst) {
    const std::uint64_t all = units_of(depth);
    const std::size_t down = (rows + kRows - 1) / kRows, across = (cols + kCols - 1) / kCols;
    Remainder<kShort> left;
    left.how = how;
    left.c_stride = c_stride;
    for (std::uint64_t stretch = 0; stretch < all; stretch += kStretchUnits) {
        const std::uint64_t end = stretch + kStretchUnits < all ? stretch + kStretchUnits : all;
        for (std::size_t j = 0; j < across; ++j) {
            Sums* sums = region.sums[all <= kStretchUnits ? 0 : j];
            Sums* lowest = region.lowest[all <= kStretchUnits ? 0 : j];
            const std::byte* b_panel = b.data + j * b.panel_stride;
            for (std::uint64_t u = stretch; u < end; u += kChunkUnits) {
                const std::uint64_t count = end - u < kChunkUnits ? end - u : kChunkUnits;
                const bool more = u + count < end;
                const std::byte* next_b = j + 1 < across ? b_panel + b.panel_stride + stretch * kUnitBytesB
                                                         : b.data + end * kUnitBytesB;
                if (more) next_b = b_panel + (u + count) * kUnitBytesB;
                for (std::size_t i = 0; i < down; ++i) {
                    const std::byte* a_panel = a.data + i * a.panel_stride;
                    const std::byte* next_a = i + 1 < down
                                                  ? a_panel + a.panel_stride + u * kUnitBytesA
                                                  : a.data + (more ? u + count : stretch) * kUnitBytesA;
                    const Ahead ahead{next_a, next_b + i * kAheadB};
                    const bool last = u + count == all;
                    float* out = c + i * kRows * c_stride + j * kCols;
                    if (last) fetch_outputs(out, c_stride);
                    left.finish(worst);
                    sum_tile(a_panel, how.wide ? a.lower + i * a.panel_stride : nullptr, b_panel, u, count,
                             all, ahead, sums[i], lowest[i]);
                    left.is_there = last;
                    left.sums = &sums[i], left.lowest = &lowest[i];
                    left.how.bias = how.bias == nullptr ? nullptr : how.bias + j * kCols;
                    left.rows = rows - i * kRows < kRows ? rows - i * kRows : kRows;
                    left.cols = cols - j * kCols < kCols ? cols - j * kCols : kCols;
                    left.a_exponents = a.exponents + i * kRows, left.b_exponents = b.exponents + j * kCols;
                    left.c = out;
                    if (!last || shown == nullptr) continue;
                    left.finish(worst);
                    show_sums(sums[i], lowest[i], how.wide, left.rows, left.cols,
                              shown + i * kRows * kGroup + j * kCols);
                }
            }
        }
    }
    left.finish(worst);
}

inline bool multiply(const ProductTile& x) {
    // The memory needs no zeros: every sum is written before it is read.
    Region& region = *reinterpret_cast<Region*>(x.region);
    I worst = set(0);
    for (std::uint64_t j = 0; j < x.cols; j += kGroup) {
        const std::uint64_t cols = x.cols - j < kGroup ? x.cols - j : kGroup;
        for (std::uint64_t i = 0; i < x.rows; i += kGroup) {
            const std::uint64_t rows = x.rows - i < kGroup ? x.rows - i : kGroup;
            const Packed a = x.a.from(i, kRows), b = x.b.from(j, kCols);
            for (std::uint64_t block = 0; block < x.blocks; ++block) {
                const bool last = block + 1 == x.blocks;
                const std::uint64_t depth = last ? x.last_depth : x.depth;
                const TileFinish how{{block == 0 && !x.carry, last, x.scale},
                                     a.lower != nullptr,
                                     x.bias == nullptr ? nullptr : x.bias + j};
                const bool asked = i == x.shown.row && j == x.shown.col && block == x.shown.block;
                (depth <= kShortDepth ? multiply_region<true>
                                      : multiply_region<false>)(a.at_block(block), b.at_block(block), depth,
                                                                rows, cols, how, x.c + i * x.c_stride + j,
                                                                x.c_stride, region,
                                                                asked ? x.shown.sums : nullptr, worst);
            }
        }
    }
    return largest(worst) < 0x7f800000;
}
