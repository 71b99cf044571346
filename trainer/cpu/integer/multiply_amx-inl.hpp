// SPDX-License-Identifier: Apache-2.0
// The loop over tiles of AMX. A panel of A stays in the first cache, a chunk of k at a time, while panels of
// B stream from the second. So a row of outputs is written from left to right, which the processor's
// prefetchers follow. A tile's sums become outputs a row at a time, beside the multiplications of the next
// tile. Included once per target inside its namespace, after the others: no guard.
//
// The second cache, 2 MiB, keeps whole panels of B for all rows. Of deep blocks too few would fit, and A
// would be read again for each few of them: it keeps only a chunk of k, of more panels, while the sums of 96
// rows wait in memory.

inline constexpr std::uint64_t kMostUnits = 16;         // of a chunk: 32 KiB of a panel of A
inline constexpr std::uint64_t kNearBytes = 1U << 20U;  // of whole panels of B
inline constexpr std::uint64_t kMostPanels = 32;        // of B at a time
inline constexpr std::uint64_t kDeepUnits = 64;         // whole panels up to this depth
inline constexpr std::uint64_t kDeepPanels = 16;        // of B at a time, of deeper blocks,
inline constexpr std::uint64_t kDeepRows = 6 * kRows;   // and rows

struct alignas(kAlignment) Region {
    DigitSums partial[kDeepRows / kRows * kDeepPanels];  // of tiles, after some chunks of k
    DigitSums complete;                                  // of the tile that becomes outputs
};
static_assert(kDeepRows / kRows * kDeepPanels >= kMostPanels);

// How the sums of a block of k become outputs: `kShort` with at most kShortDepth k, `kWide` with 24 bits on
// side A.
template <bool kShort, bool kWide, bool kFromZero, bool kLast>
struct BlockKind {
    static constexpr bool is_short = kShort, wide = kWide, from_zero = kFromZero, last = kLast;
};

// A tile whose sums are complete and that becomes outputs row by row.
template <class Kind>
struct Remainder {
    I& worst;
    const DigitSums& digits;
    float scale = 1.0F;
    std::uint64_t c_stride = 0;
    std::size_t row = kRows;      // the next one of a whole tile
    const float* bias = nullptr;  // of its columns
    const std::int32_t* a_exponents = nullptr;
    const std::int32_t* b_exponents = nullptr;
    float* c = nullptr;

    [[gnu::always_inline]] F value_of(std::size_t i) const {
        const std::size_t at = i * kCols;
        const I exponent = add(set(a_exponents[i]), load(b_exponents));
        const I hh = load(digits.hh + at), mid = load(digits.mid + at), ll = load(digits.ll + at);
        if constexpr (!Kind::wide) {
            const auto [hi, lo] = split_sum(hh, mid, ll);
            return Kind::is_short ? finish<true>(hi, lo, exponent) : finish_split(hi, lo, exponent);
        }
        const I lowest = load(digits.lowest + at);
        if constexpr (Kind::is_short) {
            const auto [hi, lo] = split_sum24(hh, mid, ll, lowest);
            return finish_short24(hi, lo, exponent);
        }
        const auto [hi, lo] = split_sum(hh, mid, ll);
        return finish24(hi, lo, set(0), lowest, exponent);
    }
    [[gnu::always_inline]] void put_row(std::size_t i, std::uint64_t cols) {
        const Finish how{Kind::from_zero, Kind::last, scale};
        if (cols == kCols) {
            __builtin_prefetch(c + i * c_stride + 2 * kCols, 0, 2);  // two tiles on; past the end only a hint
            put(value_of(i), how, bias, c + i * c_stride, worst);
        } else {
            put_some(value_of(i), cols, how, bias, c + i * c_stride, worst);
        }
    }
    void put_border(std::uint64_t rows, std::uint64_t cols) {
        for (std::size_t i = 0; i < rows; ++i) put_row(i, cols);
    }
    template <std::size_t kCount>
    [[gnu::always_inline]] void do_rows() {
        static_assert(kRows % kCount == 0);
        if (row == kRows) return;
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kCount; ++i) put_row(row + i, kCols);
        row += kCount;
    }
    void do_all() {
        while (row < kRows) do_rows<1>();
    }
};

// Memory that will be read soon and comes into the second cache meanwhile, a few lines at a call.
class Fetch {
public:
    Fetch() = default;
    Fetch(const std::byte* first, std::uint64_t bytes, std::uint64_t calls)
        : at_(first), end_(first + bytes), lines_((bytes / kRowBytes + calls - 1) / calls) {}
    [[gnu::always_inline]] void operator()() {
        for (std::uint64_t i = 0; i < lines_ && at_ < end_; ++i, at_ += kRowBytes) {
            __builtin_prefetch(at_, 0, 2);
        }
    }

private:
    const std::byte* at_ = nullptr;
    const std::byte* end_ = nullptr;
    std::uint64_t lines_ = 0;
};

// What sum_tile() does beside multiplications: twice per unit it finishes `kCount` rows, and fetches what the
// next chunks read of A and B.
template <class Kind, std::size_t kCount>
struct Aside {
    Remainder<Kind>& of;
    Fetch& a;
    Fetch& lowest;
    Fetch& b;
    [[gnu::always_inline]] void operator()() const {
        of.template do_rows<kCount>();
        a();
        if constexpr (Kind::wide) lowest();
        b();
    }
    void rest() const { of.do_all(); }
};

// Copies the sums of a tile for ProductGuard (guard.hpp).
inline void show_sums(const DigitSums& of, bool wide, std::uint64_t rows, std::uint64_t cols,
                      std::int64_t* out) {
    for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t j = 0; j < cols; ++j) {
            const std::size_t at = i * kCols + j;
            std::int64_t sum = std::int64_t{of.hh[at]} * 65'536 + std::int64_t{of.mid[at]} * 256 + of.ll[at];
            if (wide) sum = sum * 256 + of.lowest[at];
            out[i * kGroup + j] = sum;
        }
    }
}

// Columns [col, col + cols) of a block of k, for all rows of x.
template <class Kind>
class BlockColumns {
public:
    BlockColumns(const ProductTile& x, std::uint64_t block, std::uint64_t col, std::uint64_t cols, I& worst)
        : x_(x),
          a_(x.a.at_block(block)),
          b_(x.b.from(col, kCols).at_block(block)),
          units_(units_of(Kind::last ? x.last_depth : x.depth)),
          is_deep_(units_of(x.depth) > kDeepUnits),
          step_(is_deep_ ? kDeepRows : kRows),
          is_shown_(x.shown.sums != nullptr && block == x.shown.block),
          col_(col),
          cols_(cols),
          panels_((cols + kCols - 1) / kCols),
          region_(*reinterpret_cast<Region*>(x.region)),
          left_{worst, region_.complete, x.scale, x.c_stride} {
        const std::uint64_t chunks = (units_ + kMost - 1) / kMost;
        length_ = (units_ + chunks - 1) / chunks;
    }

    void multiply() {
        for (Chunk one = chunk_at(0, 0); one.row < x_.rows; one = after(one)) {
            // So many rows beside a unit that at most four are left for the end.
            if (one.units >= 6) {
                multiply<1>(one);
            } else if (one.units >= 3) {
                multiply<2>(one);
            } else if (one.units == 2) {
                multiply<4>(one);
            } else {
                multiply<8>(one);
            }
        }
        left_.do_all();
    }

private:
    // Units of a chunk at most: 32 KiB of a panel of A, 24 KiB where it has lowest digits.
    static constexpr std::uint64_t kMost = Kind::wide ? kMostUnits / 2 : kMostUnits;

    // Units [u, u + units) of the kRows rows from `row` on.
    struct Chunk {
        std::uint64_t row, u, units;
    };
    [[nodiscard]] Chunk chunk_at(std::uint64_t row, std::uint64_t u) const {
        return {row, u, units_ - u < length_ ? units_ - u : length_};
    }
    // Rows whose sums wait at the same time: [top, bottom).
    [[nodiscard]] std::uint64_t top(const Chunk& one) const { return one.row / step_ * step_; }
    [[nodiscard]] std::uint64_t bottom(const Chunk& one) const {
        return x_.rows - top(one) < step_ ? x_.rows : top(one) + step_;
    }
    [[nodiscard]] bool completes(const Chunk& one) const { return one.u + one.units == units_; }
    // The first chunk behind those of all rows that read the same units of B.
    [[nodiscard]] Chunk after_rows(const Chunk& one) const {
        return completes(one) ? chunk_at(bottom(one), 0) : chunk_at(top(one), one.u + length_);
    }
    [[nodiscard]] Chunk after(const Chunk& one) const {
        return one.row + kRows < bottom(one) ? chunk_at(one.row + kRows, one.u) : after_rows(one);
    }
    [[nodiscard]] const std::byte* a_of(const Chunk& one) const {
        return a_.data + one.row / kRows * a_.panel_stride + one.u * kUnitBytesA;
    }
    [[nodiscard]] const std::byte* lowest_of(const Chunk& one) const {
        return a_.lower + one.row / kRows * a_.panel_stride + one.u * kUnitBytesLowest;
    }

    // Of the tile before each, `kCount` rows are done twice per unit.
    template <std::size_t kCount>
    [[gnu::noinline]] void multiply(const Chunk& one) {
        Fetch a, lowest, b;
        const std::uint64_t calls = 2 * one.units;
        if (const Chunk next = after(one); next.row < x_.rows) {
            a = {a_of(next), next.units * kUnitBytesA, calls * panels_};
            if (Kind::wide) lowest = {lowest_of(next), next.units * kUnitBytesLowest, calls * panels_};
        }
        // Each row of tiles fetches its share of the units of B that follow.
        const Chunk later = after_rows(one);
        const std::uint64_t rows = bottom(one) - top(one), at = one.row - top(one);
        const std::uint64_t lines =
            is_deep_ && later.row < x_.rows && later.u != one.u ? later.units * kUnitBytesB / kRowBytes : 0;
        const std::uint64_t from = lines * at / rows,
                            till = lines * (at + (rows - at < kRows ? rows - at : kRows)) / rows;
        const Aside<Kind, kCount> aside{left_, a, lowest, b};
        DigitSums* partial = region_.partial + at / kRows * panels_;
        const std::byte* panel = b_.data;
        for (std::uint64_t j = 0; j < cols_; j += kCols, panel += b_.panel_stride, ++partial) {
            b = {panel + later.u * kUnitBytesB + from * kRowBytes, (till - from) * kRowBytes, calls};
            const DigitSums* before = one.u == 0 ? nullptr : partial;
            DigitSums& to = completes(one) ? region_.complete : *partial;
            const std::byte* units_of_b = panel + one.u * kUnitBytesB;
            if constexpr (Kind::wide) {
                sum_wide_tile(a_of(one), lowest_of(one), units_of_b, one.units, before, aside, to);
            } else {
                sum_tile(a_of(one), units_of_b, one.units, before, aside, to);
            }
            if (completes(one)) take(one.row, j);
        }
    }

    // The tile of row `row` and column `j` is in region_.complete.
    void take(std::uint64_t row, std::uint64_t j) {
        const std::uint64_t rows = x_.rows - row < kRows ? x_.rows - row : kRows;
        const std::uint64_t cols = cols_ - j < kCols ? cols_ - j : kCols;
        left_.bias = x_.bias == nullptr ? nullptr : x_.bias + col_ + j;
        left_.a_exponents = a_.exponents + row;
        left_.b_exponents = b_.exponents + j;
        left_.c = x_.c + row * x_.c_stride + col_ + j;
        if (rows == kRows && cols == kCols) {
            left_.row = 0;
        } else {
            left_.put_border(rows, cols);
        }
        // Differences below 0 are large.
        if (is_shown_ && row - x_.shown.row < kGroup && col_ + j - x_.shown.col < kGroup) {
            show_sums(region_.complete, Kind::wide, rows, cols,
                      x_.shown.sums + (row - x_.shown.row) * kGroup + (col_ + j - x_.shown.col));
        }
    }

    const ProductTile& x_;
    const Packed a_, b_;
    std::uint64_t units_;
    bool is_deep_;
    std::uint64_t step_;        // rows whose sums wait at the same time
    std::uint64_t length_ = 0;  // units of a chunk; all but the last are equal
    bool is_shown_;
    std::uint64_t col_, cols_, panels_;
    Region& region_;
    Remainder<Kind> left_;
};

template <bool kShort, bool kWide>
inline void multiply_block(const ProductTile& x, std::uint64_t block, std::uint64_t col, std::uint64_t cols,
                           I& worst) {
    const auto by = [&]<bool kFromZero, bool kLast>() {
        BlockColumns<BlockKind<kShort, kWide, kFromZero, kLast>>(x, block, col, cols, worst).multiply();
    };
    const bool from_zero = block == 0 && !x.carry;
    if (block + 1 == x.blocks) {
        from_zero ? by.template operator()<true, true>() : by.template operator()<false, true>();
    } else {
        from_zero ? by.template operator()<true, false>() : by.template operator()<false, false>();
    }
}

static_assert(kNearBytes / (kDeepUnits * kUnitBytesB) >= 1);

inline bool multiply(const ProductTile& x) {
    I worst = set(0);
    const std::uint64_t fit = kNearBytes / b_panel_bytes(x.depth);
    const std::uint64_t step = kCols * (units_of(x.depth) > kDeepUnits ? kDeepPanels
                                        : fit < kMostPanels            ? fit
                                                                       : kMostPanels);
    const bool wide = x.a.lower != nullptr;
    Registers::enter();
    for (std::uint64_t col = 0; col < x.cols; col += step) {
        const std::uint64_t cols = x.cols - col < step ? x.cols - col : step;
        for (std::uint64_t block = 0; block < x.blocks; ++block) {
            const bool is_short = (block + 1 == x.blocks ? x.last_depth : x.depth) <= kShortDepth;
            (wide ? (is_short ? multiply_block<true, true> : multiply_block<false, true>)
                  : (is_short ? multiply_block<true, false> : multiply_block<false, false>))(x, block, col,
                                                                                             cols, worst);
        }
    }
    Registers::leave();
    return largest(worst) < 0x7f800000;
}
