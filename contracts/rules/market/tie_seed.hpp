// SPDX-License-Identifier: Apache-2.0
// The seed that breaks ties of a clearing, for the clearing and for everyone who recomputes one (decision
// 86).
#pragma once

#include "contracts/base/hash.hpp"
#include "contracts/rules/market/records.hpp"

namespace assay::contracts {

/// A hash over the salts of everything that was opened for one clearing: first the bids ascending by job,
/// including those set aside, then the asks ascending by node, without those set aside.
class TieSeed {
public:
    void add(const Hash256& job, const LotBid& bid) { salts_.add(job).add(bid.salt); }
    void add(const PublicKey& node, const LotAsk& ask) { salts_.add(node.view()).add(ask.salt); }
    [[nodiscard]] Hash256 finish() { return salts_.finish(); }

private:
    base::Hasher salts_{"assay/market-seed/v1"};
};

}  // namespace assay::contracts
