// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/deterrence.hpp"

#include <limits>

#include "contracts/base/check.hpp"
#include "contracts/base/wide.hpp"
#include "contracts/rules/job/panel.hpp"

namespace assay::contracts {

using base::Rounding;
using base::Uint128;

namespace {

constexpr std::uint64_t kOne = std::numeric_limits<std::uint64_t>::max();  ///< stands for 1, as in thresholds

// a · b, where kOne stands for 1; never below the true product.
std::uint64_t product_up(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((Uint128{a} * b + kOne - 1) / kOne);
}

}  // namespace

std::uint64_t deterring_rate(std::uint64_t threshold, const Params& params) {
    ASSAY_CHECK(params.collusion_ppm < kPartsPerMillion);
    constexpr std::uint64_t kAll = kPartsPerMillion * kPartsPerMillion * kPartsPerMillion;
    const std::uint64_t colluding = colluding_panels(params.collusion_ppm, kPartsPerMillion);
    return static_cast<std::uint64_t>(Uint128{threshold} * (kAll - colluding) / kAll);
}

std::uint64_t lost_for_good_ppm(const Params& params) { return kPartsPerMillion - params.forfeit_buyer_ppm; }

std::optional<Amount> deterring_bond(const Params& params, const CheatStake& stake, std::uint64_t threshold) {
    const std::uint64_t kept = lost_for_good_ppm(params);
    std::uint64_t undrawn = kOne;
    for (std::uint32_t i = 0; i < stake.units; ++i) undrawn = product_up(undrawn, kOne - threshold);
    const std::uint64_t any_found = deterring_rate(kOne - undrawn, params);
    const std::uint64_t one_found = deterring_rate(threshold, params);
    if (kept == 0 || one_found == 0 || any_found == 0) return std::nullopt;
    const auto work = stake.saving.times(kOne, any_found, Rounding::kUp);
    const auto outside = stake.gain.times(kOne, one_found, Rounding::kUp);
    const auto lost = work && outside ? work->plus(*outside) : std::nullopt;
    return lost ? lost->times(kPartsPerMillion, kept, Rounding::kUp) : std::nullopt;
}

}  // namespace assay::contracts
