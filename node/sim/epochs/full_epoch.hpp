// SPDX-License-Identifier: Apache-2.0
// Gives the bench the cost of one epoch of the market for a ledger node. Every machine offers a lot and every
// job bids, in classes of the same families as in the measurement of clearing alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contracts/base/error.hpp"
#include "node/sim/market/random_class.hpp"

namespace assay::node::sim {

struct FullEpochPlan {
    std::size_t classes = 1;  ///< 1 to 8, of equal size
    ClassSize size;           ///< of each
    MarketFamily family = MarketFamily::kGangs;
    std::uint64_t first_seed = 1;  ///< of the first class; the next classes have the following seeds
};

/// Milliseconds of processor time, in one thread.
struct FullEpoch {
    /// The clearing block: reading and decoding records, all classes, writing leases and deposits,
    /// invariants, the state's tree.
    double clearing_ms = 0;
    /// The whole epoch: transactions with the check of their signatures, each block in which something is
    /// due, invariants and tree. Without signing.
    double epoch_ms = 0;
    std::uint64_t transactions = 0;  ///< of the epoch
    std::uint64_t leased = 0;        ///< lots
};

/// Measures an epoch. Participants enter before it, which is not measured. kFailure when the rules refuse a
/// valid transaction, or an invariant does not hold.
base::Outcome<FullEpoch> measure_full_epoch(const FullEpochPlan& plan);

}  // namespace assay::node::sim
