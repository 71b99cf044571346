// SPDX-License-Identifier: Apache-2.0
// Gives rules, plans and audits how many verifiers are drawn: the one place where a panel's size is decided.
#pragma once

#include <cstddef>

namespace assay::contracts {

/// Verifiers drawn for a slot, of as many owners. Two until disputes exist: two equal
/// roots decide.
constexpr std::size_t panel_size() { return 2; }

/// With a third one, who is drawn when the two do not settle something.
constexpr std::size_t panel_most() { return panel_size() + 1; }

/// Owners among the eligible verifiers without whom no round begins (too_few_verifiers).
constexpr std::size_t panel_owners_least() { return panel_size(); }

}  // namespace assay::contracts
