// SPDX-License-Identifier: Apache-2.0
// Gives who bids in the market, and the rules that open it, the seals of lots and bids.
#pragma once

#include <string_view>

#include "contracts/rules/market/records.hpp"

namespace assay::contracts {

/// `salt` is 32 random bytes, not zero, that the miner keeps until the opening.
Hash256 lot_seal(std::string_view chain, const PublicKey& node, const LotClass& kind, Amount price,
                 std::uint32_t epochs, const Hash256& salt);
/// The same of a job's bid.
Hash256 bid_seal(std::string_view chain, const Hash256& job, const LotClass& kind, std::uint32_t lots,
                 Amount price, const Hash256& salt);

}  // namespace assay::contracts
