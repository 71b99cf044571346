// SPDX-License-Identifier: Apache-2.0
// Gives rules, plans and audits how many verifiers are drawn. What follows from their words is told by
// round/panel_rule.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::contracts {

/// Verifiers drawn for a slot, of as many owners, where two equal roots decide.
constexpr std::size_t panel_size() { return 2; }

/// With a third one, who is drawn when the two do not settle something. Where games decide, the beacon draws
/// one to this many at once: no miner knows how many will look when it commits.
constexpr std::size_t panel_most() { return panel_size() + 1; }

/// How likely a whole panel of one to three belongs to those who hold `part` of `whole` of the weight that it
/// is drawn by, in parts of whole³, rounded up: (p·w² + p²·w + p³) / 3. Where games decide, one honest
/// verifier of a panel is enough. REQUIRES part <= whole <= 10^6.
constexpr std::uint64_t colluding_panels(std::uint64_t part, std::uint64_t whole) {
    return (part * whole * whole + part * part * whole + part * part * part + 2) / 3;
}

/// How likely a panel decides what those want who hold `part` of `whole` of the weight it is drawn by, in
/// parts of whole³: two of its three are theirs. Where two equal roots decide, one honest verifier is not
/// enough. REQUIRES part <= whole <= 10^6.
constexpr std::uint64_t captured_panels(std::uint64_t part, std::uint64_t whole) {
    return part * part * (3 * whole - 2 * part);
}

}  // namespace assay::contracts
