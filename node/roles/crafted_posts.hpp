// SPDX-License-Identifier: Apache-2.0
// Gives drills what a claimant makes up in a dispute that it cannot win: hashes that fold into each other,
// and are of nothing that anybody computed.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/dispute/way.hpp"

namespace assay::node {

/// What is posted where the way stands: states, outputs, tiles and partials of a segment. Empty where what is
/// fixed already leaves nothing to make up. REQUIRES a way that waits for hashes.
std::vector<base::Hash256> crafted_post(const base::Hash256& job, std::uint32_t game, const dispute::Way& way,
                                        dispute::UnitFacts& facts);

/// As long as a witness may be, and nothing that opens anything.
base::Bytes crafted_witness(const base::Hash256& job, std::uint32_t game);

}  // namespace assay::node
