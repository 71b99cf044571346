// SPDX-License-Identifier: Apache-2.0
// The seals of lots and bids, for bidders in the market and for the rules.
#pragma once

#include <string_view>

#include "contracts/rules/market/records.hpp"

namespace assay::contracts {

/// The seal of a lot. `salt` is 32 random bytes, not zero, that the miner keeps until the opening.
Hash256 lot_seal(std::string_view chain, const PublicKey& node, const LotClass& kind, Amount price,
                 std::uint32_t epochs, const Hash256& salt);
/// The same for a job's bid.
Hash256 bid_seal(std::string_view chain, const Hash256& job, const LotClass& kind, std::uint32_t lots,
                 Amount price, const Hash256& salt);

}  // namespace assay::contracts
