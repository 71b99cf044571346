// SPDX-License-Identifier: Apache-2.0
// The bond at which cheating does not pay (docs/concepts/money.md), for rules and plans: how likely a false
// unit is found when part of the verifiers collude, and how much a forfeit has to take. All in integers.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/state/params.hpp"

namespace assay::contracts {

/// q' = q · (1 − c), rounded down: the rate at which a unit is drawn and its panel does not consist only of
/// colluding verifiers. c is colluding_panels (panel.hpp) at the share Params::collusion_ppm. `threshold` is
/// q as a 64-bit threshold; UINT64_MAX stands for 1. REQUIRES collusion_ppm < one million.
std::uint64_t deterring_rate(std::uint64_t threshold, const Params& params);

/// The part of a forfeited bond that cannot come back to the cheat, per million: the burned part in the case
/// that burns least. A drawn cheat may choose silence, and the buyer, who then gets a share, may be the cheat
/// under another key.
std::uint64_t lost_for_good_ppm(const Params& params);

/// What a cheat could win in one slot's round.
struct CheatStake {
    Amount saving;            ///< nΔ: by skipping all of its n units
    std::uint32_t units = 1;  ///< n, at least 1
    Amount gain;              ///< outside the job, by one or more false units
};

/// L, the least bond whose part that is lost for good outweighs both saving and gain:
///     L · lost_for_good = nΔ / ((1 − c) · (1 − (1 − q)^n)) + gain / q'
/// One panel judges all units of a slot, so it colludes in all of them or in none. The first divisor is
/// therefore below 1 − (1 − q')^n, which would hold if each unit had a panel of its own. The bond covers
/// every number of skipped units up to n, since a saving of m units divided by the chance that one of them is
/// found grows with m. One false unit is enough for the gain. `threshold` is q. The power is taken in 64-bit
/// fixed point, one factor at a time; every step rounds towards a larger bond. Returns nothing when L is
/// above the largest amount, when the rate is too low to be told from zero, or when no part of a forfeit is
/// lost for good.
std::optional<Amount> deterring_bond(const Params& params, const CheatStake& stake, std::uint64_t threshold);

}  // namespace assay::contracts
