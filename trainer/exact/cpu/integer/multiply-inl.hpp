// SPDX-License-Identifier: Apache-2.0
// From integer sums of tiles to outputs: one rounding, the scale of row and column, one rounded add per block
// of k, and what follows the last one while the tile is still at hand. Included once per target inside its
// namespace, last: no guard.

inline constexpr std::size_t kPanels = 4;  // panels of A that share a reading of B
/// Sums of at most this many k have |hi| <= 2^24 and go through binary32 alone.
inline constexpr std::uint64_t kShortDepth = 1024;
static_assert(kShortDepth * 32'639 * 32'639 / 65'536 + kShortDepth < (1U << 24U));
static_assert(arithmetic::kMaxProductBlock * 32'639 * 32'639 / 65'536 < (1ULL << 31U));
static_assert(arithmetic::kMaxProductBlock * 8'355'711 * 32'639 <= (1ULL << 52U));  // binary64 holds all

// What is done with a tile of one block of k.
struct Finish {
    bool from_zero = false;
    bool last = false;
    bool wide = false;  // 24 bits on side A
    float scale = 1.0F;
    const float* bias = nullptr;
};

template <bool kShort>
inline F value_of(const Sums* sums, std::size_t at, I exponent, bool wide) {
    const I hi = load(sums->hi + at), lo = load(sums->lo + at);
    if (wide) return finish24(hi, lo, load(sums[kPanels].hi + at), load(sums[kPanels].lo + at), exponent);
    return finish<kShort>(hi, lo, exponent);
}

inline F follow(F c, const Finish& how, const float* bias, I& worst) {
    if (how.last) {
        c = mul(c, set_float(how.scale));
        if (bias != nullptr) c = add(c, load_float(bias));
        worst = max(worst, magnitude(c));
    }
    return c;
}

template <bool kShort>
inline void finish_tile(const Sums* sums, const std::int32_t* a_exponents, const std::int32_t* b_exponents,
                        std::uint64_t rows, std::uint64_t cols, const Finish& how, float* c,
                        std::uint64_t c_stride, I& worst) {
    for (std::uint64_t i = 0; i < rows; ++i) {
        const I row_exponent = set(a_exponents[i]);
        float* out = c + i * c_stride;
        std::uint64_t j = 0;
        for (; j + kL <= cols; j += kL) {
            const I exponent = add(row_exponent, load(b_exponents + j));
            const F value = value_of<kShort>(sums, i * kCols + j, exponent, how.wide);
            const F before = how.from_zero ? zero_float() : load_float(out + j);
            store_float(out + j,
                        follow(add(before, value), how, how.bias == nullptr ? nullptr : how.bias + j, worst));
        }
        if (j < cols) {  // the border: through a buffer
            alignas(64) float buffer[kL] = {}, bias[kL] = {};
            for (std::uint64_t l = 0; l < cols - j; ++l) {
                if (!how.from_zero) buffer[l] = out[j + l];
                if (how.bias != nullptr) bias[l] = how.bias[j + l];
            }
            const I exponent = add(row_exponent, load(b_exponents + j));
            const F value = value_of<kShort>(sums, i * kCols + j, exponent, how.wide);
            store_float(buffer, follow(add(load_float(buffer), value), how,
                                       how.bias == nullptr ? nullptr : bias, worst));
            for (std::uint64_t l = 0; l < cols - j; ++l) out[j + l] = buffer[l];
        }
    }
}

// rows <= kPanels · kRows, cols <= kCols.
inline void multiply_tiles(const Block& x, std::uint64_t row, std::uint64_t column, std::uint64_t rows,
                           std::uint64_t cols, Sums* sums, I& worst) {
    const std::size_t panels = (rows + kRows - 1) / kRows;
    const Packed a = x.a.from(row, kRows), b = x.b.from(column, kCols);
    for (std::uint64_t block = 0; block < x.blocks; ++block) {
        const bool last = block + 1 == x.blocks;
        const std::uint64_t depth = last ? x.last_depth : x.depth;
        const std::byte* b_data = b.data + block * b.block_stride;
        tile_sums(a.data + block * a.block_stride, a.panel_stride, b_data, depth, sums, panels);
        const bool wide = a.lowest != nullptr;
        if (wide) {
            tile_sums(a.lowest + block * a.block_stride, a.panel_stride, b_data, depth, sums + kPanels,
                      panels);
        }
        const Finish how{block == 0 && !x.carry, last, wide, x.scale,
                         x.bias == nullptr ? nullptr : x.bias + column};
        for (std::size_t p = 0; p < panels; ++p) {
            const std::uint64_t left = rows - p * kRows;
            const std::int32_t* a_exponents = a.exponents + block * a.exponent_stride + p * kRows;
            const std::int32_t* b_exponents = b.exponents + block * b.exponent_stride;
            float* c = x.c + (row + p * kRows) * x.c_stride + column;
            (depth <= kShortDepth ? finish_tile<true> : finish_tile<false>)(sums + p, a_exponents,
                                                                            b_exponents,
                                                                            left < kRows ? left : kRows, cols,
                                                                            how, c, x.c_stride, worst);
        }
    }
}

inline bool multiply(const Block& x) {
    Sums sums[2 * kPanels];
    I worst = set(0);
    for (std::uint64_t j = 0; j < x.cols; j += kCols) {
        const std::uint64_t cols = x.cols - j < kCols ? x.cols - j : kCols;
        for (std::uint64_t i = 0; i < x.rows; i += kPanels * kRows) {
            const std::uint64_t rows = x.rows - i < kPanels * kRows ? x.rows - i : kPanels * kRows;
            multiply_tiles(x, i, j, rows, cols, sums, worst);
        }
    }
    return largest(worst) < 0x7f800000;
}

inline const Machine& machine() {
    static constexpr Machine kMachine{kRows,       kCols,  a_panel_bytes, b_panel_bytes, exponents_a,
                                      exponents_b, pack_a, pack_b,        multiply};
    return kMachine;
}
