// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/draws.hpp"

#include <algorithm>
#include <limits>

#include "contracts/base/check.hpp"
#include "contracts/base/wide.hpp"

namespace assay::contracts {

using base::Uint128;

namespace {

/// Uniform in [0, bound): the high word of draw · bound.
std::uint64_t scale(std::uint64_t draw, std::uint64_t bound) {
    return static_cast<std::uint64_t>((Uint128{draw} * bound) >> 64);
}

}  // namespace

std::uint64_t draw_u64(const Hash256& beacon, std::string_view label, std::uint64_t first,
                       std::uint64_t second) {
    const Hash256 hash = base::Hasher("assay/draw/v1")
                             .add(beacon)
                             .add_u64(label.size())
                             .add(base::as_bytes(label))
                             .add_u64(first)
                             .add_u64(second)
                             .finish();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{hash.bytes[i]} << (8 * i);
    return value;
}

std::uint64_t draw_below(const Hash256& beacon, std::string_view label, std::uint64_t first,
                         std::uint64_t second, std::uint64_t bound) {
    return scale(draw_u64(beacon, label, first, second), bound);
}

bool is_drawn(std::uint64_t draw, std::uint64_t threshold) {
    return threshold == std::numeric_limits<std::uint64_t>::max() || draw < threshold;
}

UnitRates unit_rates(const program::SecurityConfig& security, bool everything) {
    if (!everything) return {security.audit_threshold, security.finalise_threshold};
    constexpr std::uint64_t kRateOne = std::numeric_limits<std::uint64_t>::max();
    return {kRateOne, kRateOne};
}

std::vector<std::uint32_t> draw_units(const Hash256& beacon, std::uint32_t slot,
                                      const program::RoundPlan& plan, const UnitRates& rates) {
    const auto drawn = [&](std::uint32_t unit, std::uint64_t threshold) {
        return is_drawn(draw_u64(beacon, "unit", slot, unit), threshold);
    };
    std::vector<std::uint32_t> units;
    for (std::uint32_t unit = 0; unit < plan.segments(); ++unit) {
        if (drawn(unit, rates.segment)) units.push_back(unit);
    }
    if (drawn(plan.finalise(), rates.finalise)) units.push_back(plan.finalise());
    return units;
}

std::vector<std::uint32_t> with_divergence(std::vector<std::uint32_t> drawn, std::uint32_t unit) {
    std::erase_if(drawn, [&](std::uint32_t other) { return other >= unit; });
    drawn.push_back(unit);
    return drawn;
}

std::vector<PublicKey> draw_weighted(const Hash256& beacon, std::string_view label, std::uint32_t slot,
                                     std::vector<EligibleVerifier> candidates, std::size_t count) {
    std::vector<PublicKey> drawn;
    while (drawn.size() < count) {
        std::uint64_t total = 0;
        for (const EligibleVerifier& candidate : candidates) {
            ASSAY_CHECK(candidate.weight <= std::numeric_limits<std::uint64_t>::max() - total);
            total += candidate.weight;
        }
        if (total == 0) break;
        std::uint64_t place = scale(draw_u64(beacon, label, slot, drawn.size()), total);
        std::size_t chosen = 0;
        while (place >= candidates[chosen].weight) place -= candidates[chosen++].weight;
        const PublicKey owner = candidates[chosen].owner;
        drawn.push_back(candidates[chosen].node);
        std::erase_if(candidates,
                      [&](const EligibleVerifier& candidate) { return candidate.owner == owner; });
    }
    return drawn;
}

std::vector<std::size_t> draw_order(const Hash256& beacon, std::string_view label, std::size_t count) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    for (std::size_t i = count; i > 1; --i) {
        const auto other = static_cast<std::size_t>(scale(draw_u64(beacon, label, i, 0), i));
        std::swap(order[i - 1], order[other]);
    }
    return order;
}

namespace {

/// One pass: hands out `total` by largest remainder among those with room, and returns what caps left over.
std::uint32_t share_once(std::uint32_t total, const std::vector<std::uint64_t>& weights,
                         const std::vector<std::uint32_t>& caps, std::vector<std::uint32_t>& shares) {
    struct Portion {
        std::size_t place;
        std::uint32_t whole;
        Uint128 remainder;
    };
    Uint128 sum = 0;
    std::uint64_t open = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (shares[i] == caps[i]) continue;
        sum += weights[i];
        ++open;
    }
    if (open == 0) return 0;
    const bool equal = sum == 0;
    if (equal) sum = open;
    std::vector<Portion> portions;
    std::uint32_t rest = total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (shares[i] == caps[i]) continue;
        const Uint128 product = Uint128{total} * (equal ? 1 : weights[i]);
        const auto whole = static_cast<std::uint32_t>(product / sum);
        portions.push_back({i, whole, product % sum});
        rest -= whole;
    }
    std::stable_sort(portions.begin(), portions.end(),
                     [](const Portion& a, const Portion& b) { return a.remainder > b.remainder; });
    std::uint32_t left_over = 0;
    for (const Portion& portion : portions) {
        std::uint32_t wanted = portion.whole;
        if (rest > 0) {
            ++wanted;
            --rest;
        }
        const std::uint32_t given = std::min(wanted, caps[portion.place] - shares[portion.place]);
        shares[portion.place] += given;
        left_over += wanted - given;
    }
    return left_over;
}

}  // namespace

std::vector<std::uint32_t> share(std::uint32_t total, const std::vector<std::uint64_t>& weights,
                                 const std::vector<std::uint32_t>& caps) {
    ASSAY_CHECK(weights.size() == caps.size());
    std::vector<std::uint32_t> shares(weights.size(), 0);
    // Every pass with something left over has filled at least one cap.
    while (total > 0) total = share_once(total, weights, caps, shares);
    return shares;
}

}  // namespace assay::contracts
