// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/seals.hpp"

#include "contracts/rules/state/seal.hpp"

namespace assay::contracts {

Hash256 lot_seal(std::string_view chain, const PublicKey& node, const LotClass& kind, Amount price,
                 std::uint32_t epochs, const Hash256& salt) {
    return seal_of("assay/seal/lot/v1", chain, node, kind, price, epochs, salt);
}

Hash256 bid_seal(std::string_view chain, const Hash256& job, const LotClass& kind, std::uint32_t lots,
                 Amount price, const Hash256& salt) {
    return seal_of("assay/seal/bid/v1", chain, job, kind, lots, price, salt);
}

}  // namespace assay::contracts
