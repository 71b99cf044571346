// SPDX-License-Identifier: Apache-2.0
// Gives rules, plans and audits how many verifiers are drawn. Who decides among them is told by
// round/panel_rule.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::contracts {

/// Verifiers drawn for a slot, of as many owners. Two until disputes exist: two equal
/// roots decide.
constexpr std::size_t panel_size() { return 2; }

/// With a third one, who is drawn when the two do not settle something.
constexpr std::size_t panel_most() { return panel_size() + 1; }

/// How likely a panel decides what those want who hold `part` of `whole` of the weight it is drawn by, in
/// parts of whole³: two of its three are theirs. Until disputes exist two equal roots decide, so that one
/// honest verifier is not enough. REQUIRES part <= whole <= 10^6.
constexpr std::uint64_t captured_panels(std::uint64_t part, std::uint64_t whole) {
    return part * part * (3 * whole - 2 * part);
}

}  // namespace assay::contracts
