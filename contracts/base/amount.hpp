// SPDX-License-Identifier: Apache-2.0
// Money as an integer count of base units, never negative, never a float.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::base {

/// One ASY is 1,000,000 base units.
inline constexpr std::uint64_t kUnitsPerToken = 1'000'000;

/// The upper bound of every amount and of every sum of amounts on a ledger. Twice as much still fits in 64
/// bits, so that one unchecked addition by mistake is detected and does not wrap.
inline constexpr std::uint64_t kAmountMax = 4'000'000'000'000'000'000ULL;

/// How to round a division of money. Payouts round down, charges round up.
enum class Rounding : std::uint8_t { kDown, kUp };

/// A count of base units in [0, kAmountMax]. There is no operator+: every sum can fail and must say so.
class Amount {
public:
    constexpr Amount() = default;

    /// Nothing when `units` is above kAmountMax.
    static constexpr std::optional<Amount> of(std::uint64_t units) {
        if (units > kAmountMax) return std::nullopt;
        return Amount(units);
    }

    [[nodiscard]] constexpr std::uint64_t units() const { return units_; }
    [[nodiscard]] constexpr bool is_zero() const { return units_ == 0; }

    /// Nothing when the sum is above kAmountMax.
    [[nodiscard]] constexpr std::optional<Amount> plus(Amount other) const {
        return of(units_ + other.units_);  // both are at most kAmountMax, so 64 bits hold the sum
    }
    /// Nothing when `other` is the larger.
    [[nodiscard]] constexpr std::optional<Amount> minus(Amount other) const {
        if (other.units_ > units_) return std::nullopt;
        return Amount(units_ - other.units_);
    }
    /// this * numerator / denominator with a 128-bit product. Nothing when denominator is 0 or the result
    /// is above kAmountMax.
    [[nodiscard]] std::optional<Amount> times(std::uint64_t numerator, std::uint64_t denominator,
                                              Rounding rounding) const;

    friend constexpr auto operator<=>(Amount, Amount) = default;

private:
    constexpr explicit Amount(std::uint64_t units) : units_(units) {}
    std::uint64_t units_ = 0;
};

/// Compile-time amounts for parameters and tests; a value above kAmountMax does not compile.
consteval Amount units(std::uint64_t count) { return Amount::of(count).value(); }

/// "12.000345 ASY": all six decimals, so that columns line up.
std::string to_text(Amount amount);

/// Reads "12.5" or "12" (ASY, at most six decimals) or "12500000u" (base units). Nothing otherwise.
std::optional<Amount> parse_amount(std::string_view text);

}  // namespace assay::base
