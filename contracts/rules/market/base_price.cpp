// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/clearing.hpp"

namespace assay::contracts {

namespace {
using base::Uint128;

constexpr unsigned kLargestStep = 8;  // an eighth of the price

/// price * over / (whole * 8), rounded up, so that a low price does not stand still. REQUIRES over <= whole,
/// whole <= 3 * 2^64: the product stays below 2^128.
std::uint64_t step(Amount price, Uint128 over, Uint128 whole) {
    const Uint128 divisor = whole * kLargestStep;
    const Uint128 product = Uint128{price.units()} * over;
    return static_cast<std::uint64_t>(product / divisor + (product % divisor == 0 ? 0 : 1));
}
}  // namespace

Amount next_base_price(Amount base_price, std::uint64_t sold, std::uint64_t offered, Amount least) {
    if (offered == 0) return std::max(base_price, least);
    const Uint128 quarters = Uint128{std::min(sold, offered)} * 4;
    const Uint128 target = Uint128{offered} * 3;
    std::uint64_t next = base_price.units();
    if (quarters > target) {
        next += std::max<std::uint64_t>(1, step(base_price, quarters - target, offered));
    } else {
        next -= step(base_price, target - quarters, target);
    }
    return std::max(Amount::of(std::min(next, base::kAmountMax)).value(), least);
}

}  // namespace assay::contracts
