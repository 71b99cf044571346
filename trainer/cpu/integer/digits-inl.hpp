// SPDX-License-Identifier: Apache-2.0
// Operands as two planes of digits in single bytes, for instructions that multiply signed bytes.
//
// A unit of A: kRows rows of kUnit high digits, then the same for low digits. The lowest digits of a 24-bit
// operand A are kRows rows of kUnit a unit. A unit of B: for each four k the high digits of kCols columns,
// then the same for low digits. The bytes of four k have the order k, k + 2, k + 1, k + 3 on both sides.
// Included once per target inside its namespace, between lanes and pack: no guard.

inline constexpr std::uint64_t kUnitBytesA = kRows * kUnit * 2;
inline constexpr std::uint64_t kUnitBytesLowest = kRows * kUnit;
inline constexpr std::uint64_t kUnitBytesB = kCols * kUnit * 2;
inline constexpr std::uint64_t kLowAtA = kRows * kUnit;  // where the low digits of a unit start
inline constexpr std::uint64_t kLowAtB = kCols * kUnit;
/// The sums of digit products stay within 32 bits for the longest block of k.
static_assert(arithmetic::kMaxProductBlock * 2 * 128 * 128 < (1ULL << 31U));

inline std::uint64_t a_panel_bytes(std::uint64_t depth) { return units_of(depth) * kUnitBytesA; }
inline std::uint64_t b_panel_bytes(std::uint64_t depth) { return units_of(depth) * kUnitBytesB; }

inline void emit_a(const std::int32_t* numbers, std::byte* panel, std::uint64_t /*units*/, std::uint64_t unit,
                   std::uint64_t row) {
    std::byte* out = panel + unit * kUnitBytesA + row * kUnit;
    const I half = set(0x00800080);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kUnit / 2; v += 2 * kL) {
        const I x = load(numbers + v), y = load(numbers + v + kL);
        store_bytes(out + v * 2, shift_right16<8>(add16(x, half)), shift_right16<8>(add16(y, half)));
        store_bytes(out + kLowAtA + v * 2, shift_right16<8>(shift_left16<8>(x)),
                    shift_right16<8>(shift_left16<8>(y)));
    }
}

inline constexpr int kLowerBits = 8;  // of a 24-bit operand A: a digit

inline void emit_upper(const std::int32_t* numbers, std::byte* panel, std::uint64_t units, std::uint64_t unit,
                       std::uint64_t row) {
    emit_a(numbers, panel, units, unit, row);
}
// These numbers are single digits.
inline void emit_lower(const std::int32_t* numbers, std::byte* panel, std::uint64_t /*units*/,
                       std::uint64_t unit, std::uint64_t row) {
    std::byte* out = panel + unit * kUnitBytesLowest + row * kUnit;
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kUnit / 2; v += 2 * kL) {
        store_bytes(out + v * 2, load(numbers + v), load(numbers + v + kL));
    }
}

inline void emit_b(const std::int32_t* pairs, std::byte* panel, std::uint64_t /*units*/, std::uint64_t unit,
                   std::uint64_t column) {
    std::byte* out = panel + unit * kUnitBytesB + column * 4;
    const I half = set(0x00800080);
    const I even = set(0x00ff00ff), odd = set(static_cast<std::int32_t>(0xff00ff00U));
    for (std::size_t t = 0; t < kUnit / 2; t += 2) {
        const I x0 = load(pairs + t * kL), x1 = load(pairs + (t + 1) * kL);
        store(out + t / 2 * kCols * 4,
              bit_or(bit_and(shift_right16<8>(add16(x0, half)), even), bit_and(add16(x1, half), odd)));
        store(out + kLowAtB + t / 2 * kCols * 4,
              bit_or(bit_and(x0, even), bit_and(shift_left16<8>(x1), odd)));
    }
}

inline void complete_b(std::byte* /*panel*/, std::uint64_t /*units*/) {}

// The sum 65,536 · hh + 256 · mid + ll as 65,536 · hi + lo, 0 <= lo < 65,536.
struct SplitSum {
    I hi, lo;
};
inline SplitSum split_sum(I hh, I mid, I ll) {
    const I low = add(ll, shift_left<8>(bit_and(mid, set(0xff))));
    return {add(add(hh, shift_right<8>(mid)), shift_right<16>(low)), bit_and(low, set(0xffff))};
}
// The sum 2^24 · d3 + 2^16 · d2 + 2^8 · d1 + d0 as 2^24 · hi + lo, 0 <= lo < 2^24. REQUIRES |d0| <= 2^24.
inline SplitSum split_sum24(I d3, I d2, I d1, I d0) {
    const I low =
        add(add(shift_left<16>(bit_and(d2, set(0xff))), shift_left<8>(bit_and(d1, set(0xffff)))), d0);
    const I high = add(add(d3, shift_right<8>(d2)), add(shift_right<16>(d1), shift_right<24>(low)));
    return {high, bit_and(low, set(0xffffff))};
}
