// SPDX-License-Identifier: Apache-2.0
// Gives drills what a claimant makes up in a dispute that it cannot win: hashes that are consistent with each
// other, but of nothing that anybody computed.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/dispute/way.hpp"

namespace assay::node {

/// Hashes to post at the way's present step: states, outputs, tiles or partials of a segment. Empty when what
/// is fixed already leaves nothing to make up. REQUIRES a way that waits for hashes.
std::vector<base::Hash256> crafted_post(const base::Hash256& job, std::uint32_t game, const dispute::Way& way,
                                        dispute::UnitFacts& facts);

/// A witness of the greatest length that opens nothing.
base::Bytes crafted_witness(const base::Hash256& job, std::uint32_t game);

}  // namespace assay::node
