// SPDX-License-Identifier: Apache-2.0
// Gives the clearing, and whoever computes one again, the seed that breaks its ties (decision 86).
#pragma once

#include "contracts/base/hash.hpp"
#include "contracts/rules/market/records.hpp"

namespace assay::contracts {

/// A hash over the salts of all that was opened for one clearing: first bids ascending by job, those set
/// aside too, then asks ascending by node, without those set aside.
class TieSeed {
public:
    void add(const Hash256& job, const LotBid& bid) { salts_.add(job).add(bid.salt); }
    void add(const PublicKey& node, const LotAsk& ask) { salts_.add(node.view()).add(ask.salt); }
    [[nodiscard]] Hash256 finish() { return salts_.finish(); }

private:
    base::Hasher salts_{"assay/market-seed/v1"};
};

}  // namespace assay::contracts
