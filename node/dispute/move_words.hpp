// SPDX-License-Identifier: Apache-2.0
// Gives logs the moves of a game in words.
#pragma once

#include <string>

#include "contracts/dispute/way.hpp"

namespace assay::node {

/// The post at this stage: "6 roots of states between steps 0 and 6 of segment 1". REQUIRES a way that waits
/// for hashes.
std::string describe_post(const dispute::Way& way, dispute::UnitFacts& facts);

/// What a pick rejects: "step 3 of segment 1". REQUIRES may_pick.
std::string describe_pick(const dispute::Way& way, dispute::UnitFacts& facts, const dispute::Pick& pick);

/// The unit: "segment 2 of slot 1 of round 0", "the merge of round 3".
std::string describe_unit(const dispute::UnitClaim& claim);

}  // namespace assay::node
