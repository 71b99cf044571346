// SPDX-License-Identifier: Apache-2.0
// Gives the rules and plans the bond from which cheating does not pay (protocol.md §7): how likely a false
// unit is found when part of the verifiers collude, and what a forfeit has to take. All in integers.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/state/params.hpp"

namespace assay::contracts {

/// q' = q · (1 − c), rounded down: the rate at which a unit is drawn and its panel does not consist of those
/// who collude (c: colluding_panels of panel.hpp at the share Params::collusion_ppm). `threshold` is q as a
/// 64-bit threshold; UINT64_MAX stands for 1. REQUIRES collusion_ppm < one million.
std::uint64_t deterring_rate(std::uint64_t threshold, const Params& params);

/// The part of a forfeited bond that cannot come back to the cheat, per million: what is burned where it is
/// burned least. A drawn cheat may choose silence, and the buyer's share of that can be its own under another
/// key.
std::uint64_t lost_for_good_ppm(const Params& params);

/// What a cheat could win in one slot's round.
struct CheatStake {
    Amount saving;            ///< nΔ: by skipping all of its n units
    std::uint32_t units = 1;  ///< n, at least 1
    Amount gain;              ///< outside of the job, by one false unit or more
};

/// L: the least bond of which the part that is lost for good outweighs both:
///     L · lost_for_good = nΔ / ((1 − c) · (1 − (1 − q)^n)) + gain / q'
/// One panel judges all units of a slot, so that it colludes in all of them or in none: the first divisor is
/// below 1 − (1 − q')^n, which would hold if each unit had a panel of its own. It covers every number of
/// skipped units up to n, since a saving of m units over the chance that one of them is found grows with m;
/// one false unit is enough for the gain. `threshold` is q. The power is taken in 64-bit fixed point, one
/// factor at a time; every step rounds towards a larger bond. Nothing: above the largest amount, a rate too
/// low to be told from zero, or a forfeit of which nothing is lost for good.
std::optional<Amount> deterring_bond(const Params& params, const CheatStake& stake, std::uint64_t threshold);

}  // namespace assay::contracts
