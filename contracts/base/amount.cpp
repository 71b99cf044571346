// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/amount.hpp"

#include "contracts/base/wide.hpp"

namespace assay::base {

std::optional<Amount> Amount::times(std::uint64_t numerator, std::uint64_t denominator,
                                    Rounding rounding) const {
    if (denominator == 0) return std::nullopt;
    const Uint128 product = static_cast<Uint128>(units_) * numerator;
    Uint128 quotient = product / denominator;
    if (rounding == Rounding::kUp && product % denominator != 0) ++quotient;
    if (quotient > kAmountMax) return std::nullopt;
    return of(static_cast<std::uint64_t>(quotient));
}

std::string to_text(Amount amount) {
    std::string fraction = std::to_string(amount.units() % kUnitsPerToken);
    fraction.insert(0, 6 - fraction.size(), '0');
    return std::to_string(amount.units() / kUnitsPerToken) + "." + fraction + " ASY";
}

namespace {
// Adds one decimal digit; nothing on overflow past kAmountMax.
std::optional<std::uint64_t> push_digit(std::uint64_t value, char digit) {
    if (digit < '0' || digit > '9') return std::nullopt;
    const auto wide = static_cast<Uint128>(value) * 10 + static_cast<unsigned>(digit - '0');
    if (wide > kAmountMax) return std::nullopt;
    return static_cast<std::uint64_t>(wide);
}
}  // namespace

std::optional<Amount> parse_amount(std::string_view text) {
    const bool base_units = text.ends_with('u');
    if (base_units) text.remove_suffix(1);
    std::uint64_t value = 0;
    int decimals = -1;  // -1: no point seen yet
    bool any = false;
    for (const char c : text) {
        if (c == '.' && decimals < 0 && any && !base_units) {
            decimals = 0;
            continue;
        }
        const auto pushed = push_digit(value, c);
        if (!pushed || decimals == 6) return std::nullopt;
        value = *pushed;
        any = true;
        if (decimals >= 0) ++decimals;
    }
    if (!any || decimals == 0) return std::nullopt;
    if (base_units) return Amount::of(value);
    for (int missing = decimals < 0 ? 6 : 6 - decimals; missing > 0; --missing) {
        const auto pushed = push_digit(value, '0');
        if (!pushed) return std::nullopt;
        value = *pushed;
    }
    return Amount::of(value);
}

}  // namespace assay::base
