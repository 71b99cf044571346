// SPDX-License-Identifier: Apache-2.0
// Gives rules, plans and audits how many verifiers are drawn. What follows from their words is told by
// round/panel_rule.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::contracts {

/// The beacon draws one to so many verifiers for a slot, each number as likely, of as many owners: no miner
/// knows how many will look when it commits.
constexpr std::size_t panel_most() { return 3; }

/// Drawn for a slot on average.
constexpr std::size_t panel_mean() { return (1 + panel_most()) / 2; }

/// How likely a whole panel of one to three belongs to those who hold `part` of `whole` of the weight that it
/// is drawn by, in parts of whole³, rounded up: (p·w² + p²·w + p³) / 3. One honest verifier of a panel is
/// enough. REQUIRES part <= whole <= 10^6.
constexpr std::uint64_t colluding_panels(std::uint64_t part, std::uint64_t whole) {
    return (part * whole * whole + part * part * whole + part * part * part + 2) / 3;
}

/// How likely the largest panel belongs to them, in parts of whole³: p³.
constexpr std::uint64_t colluding_largest_panels(std::uint64_t part) { return part * part * part; }

}  // namespace assay::contracts
