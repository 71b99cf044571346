// SPDX-License-Identifier: Apache-2.0
// How many verifiers are drawn, for rules, plans and audits. What follows from their audits:
// round/panel_rule.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::contracts {

/// The largest panel. The beacon draws one to so many verifiers for a slot, each of another owner; each
/// number is equally likely. A miner does not know at its commit how many will recompute.
constexpr std::size_t panel_most() { return 3; }

/// The mean number of verifiers drawn for a slot.
constexpr std::size_t panel_mean() { return (1 + panel_most()) / 2; }

/// The probability that a whole panel of one to three belongs to colluding verifiers that hold `part` of the
/// weight `whole`, in parts of whole³, rounded up: (p·w² + p²·w + p³) / 3. One honest verifier in a panel is
/// enough. REQUIRES part <= whole <= 10^6.
constexpr std::uint64_t colluding_panels(std::uint64_t part, std::uint64_t whole) {
    return (part * whole * whole + part * part * whole + part * part * part + 2) / 3;
}

/// The probability that the largest panel belongs to them, in parts of whole³: p³.
constexpr std::uint64_t colluding_largest_panels(std::uint64_t part) { return part * part * part; }

}  // namespace assay::contracts
