// SPDX-License-Identifier: Apache-2.0
// Transactions of the market between jobs (decision 86), for the code that builds, checks or carries them
// out.
#pragma once

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/transaction_type.hpp"

namespace assay::contracts {

/// node (miner), while lots are sealed or the clock is stopped; a stopped clock then starts. Holds
/// MarketParams::lot_deposit from its free stake.
struct LotSeal {
    static constexpr TxType kType = TxType::kLotSeal;
    Hash256 seal;  ///< lot_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.seal);
    }
};

/// node (miner), while lots are opened. The lot stands for `epochs` epochs. Returns the deposit if the node's
/// speed is measured.
struct LotOpen {
    static constexpr TxType kType = TxType::kLotOpen;
    LotClass kind;
    Amount price;              ///< base units per work unit: the least it works for
    std::uint32_t epochs = 1;  ///< 1 to kMaxStanding
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind, self.price, self.epochs, self.salt);
    }
};

/// node (miner), any time. Its lot is no longer offered from the next epoch on, or at once if the clock is
/// stopped; existing leases stay.
struct LotWithdraw {
    static constexpr TxType kType = TxType::kLotWithdraw;
    template <class Self, class V>
    static void fields(Self&, V&) {}
};

/// node (the job's buyer), while bids are sealed or the clock is stopped; a stopped clock then starts. Holds
/// MarketParams::bid_deposit from the job's escrow.
struct BidSeal {
    static constexpr TxType kType = TxType::kBidSeal;
    Hash256 job;
    Hash256 seal;  ///< bid_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.seal);
    }
};

/// node (the job's buyer), while bids are opened. Returns the deposit.
struct BidOpen {
    static constexpr TxType kType = TxType::kBidOpen;
    Hash256 job;
    LotClass kind;
    std::uint32_t lots = 1;
    Amount price;  ///< base units per work unit: the most it pays
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.kind, self.lots, self.price, self.salt);
    }
};

/// node (the job's buyer), any time. Leases the cheapest lots that are left, at the base price, from now to
/// the epoch's end. A stopped clock starts, and the epoch begins anew.
struct LeaseTake {
    static constexpr TxType kType = TxType::kLeaseTake;
    Hash256 job;
    LotClass kind;
    std::uint32_t lots = 1;  ///< at most kMaxLotsTaken
    bool wait = false;       ///< if too few are left, whether to wait for those that the next clearing leaves
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.kind, self.lots, self.wait);
    }
};

}  // namespace assay::contracts
