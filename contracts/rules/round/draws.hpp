// SPDX-License-Identifier: Apache-2.0
// Everything that is drawn from a beacon, as pure functions, for rules, roles and audits
// (docs/concepts/round.md, draw). Nobody chooses a draw, and anybody can recompute it. A draw is a hash of
// the beacon under a label and two numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::contracts {

using base::Hash256;
using base::PublicKey;

/// Uniform over 64 bits: first eight bytes, little-endian, of H(beacon, label, first, second).
std::uint64_t draw_u64(const Hash256& beacon, std::string_view label, std::uint64_t first,
                       std::uint64_t second);

/// Uniform in [0, bound), by 128-bit multiply-shift of draw_u64; 0 when the bound is 0.
std::uint64_t draw_below(const Hash256& beacon, std::string_view label, std::uint64_t first,
                         std::uint64_t second, std::uint64_t bound);

/// Bernoulli: `draw < threshold`, and always when threshold is UINT64_MAX (rate 1).
bool is_drawn(std::uint64_t draw, std::uint64_t threshold);

/// Thresholds at which the units of a slot are drawn.
struct UnitRates {
    std::uint64_t segment = 0;
    std::uint64_t finalise = 0;
};
/// The rates of the job's spec, or rate 1 if `everything`: for a newcomer, or when a link is missing.
UnitRates unit_rates(const program::SecurityConfig& security, bool everything);

/// The audited units of a slot, ascending: each segment and `finalise`, each with the probability of its
/// rate.
std::vector<std::uint32_t> draw_units(const Hash256& beacon, std::uint32_t slot,
                                      const program::RoundPlan& plan, const UnitRates& rates);
/// The audited units of a slot that claims that its work ended in `unit`: that unit, whatever the beacon
/// drew, and none after it.
std::vector<std::uint32_t> with_divergence(std::vector<std::uint32_t> drawn, std::uint32_t unit);

struct EligibleVerifier {
    PublicKey node;
    PublicKey owner;
    std::uint64_t weight = 0;  ///< stake; zero is never drawn
};

/// Up to `count` candidates, by weight without replacement (128-bit multiply-shift on cumulative weight),
/// no two of one owner. `first` numbers the draws, so that a later draw under the same label differs.
/// REQUIRES that the sum of weights fits 64 bits.
std::vector<PublicKey> draw_weighted(const Hash256& beacon, std::string_view label, std::uint32_t slot,
                                     std::vector<EligibleVerifier> candidates, std::size_t count);

/// 0 … count-1 in a drawn order (Fisher-Yates).
std::vector<std::size_t> draw_order(const Hash256& beacon, std::string_view label, std::size_t count);

/// Shares `total` things in proportion to `weights`, nobody above its cap, by largest remainder; equal
/// remainders go to the earlier place. If all weights are zero, they count as equal. The sum is min(total,
/// sum of caps). REQUIRES equal lengths.
std::vector<std::uint32_t> share(std::uint32_t total, const std::vector<std::uint64_t>& weights,
                                 const std::vector<std::uint32_t>& caps);

}  // namespace assay::contracts
