// SPDX-License-Identifier: Apache-2.0
// Gives the bench what one epoch of the market costs a ledger node: every machine offers a lot, every job
// bids, in classes of the families that clearing alone is measured with.
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
    std::uint64_t first_seed = 1;  ///< of the first class; the others count on
};

/// Milliseconds of the processor, in one thread.
struct FullEpoch {
    /// The block that clears: records read and decoded, all classes, leases and deposits written, invariants,
    /// the state's tree.
    double clearing_ms = 0;
    /// The whole epoch: transactions with the check of their signatures, each block that something is due in,
    /// invariants and tree. Signing is left out.
    double epoch_ms = 0;
    std::uint64_t transactions = 0;  ///< of the epoch
    std::uint64_t leased = 0;        ///< lots
};

/// People enter first, which is not measured. kFailure when the rules refuse what they must take, or an
/// invariant does not hold.
base::Outcome<FullEpoch> measure_full_epoch(const FullEpochPlan& plan);

}  // namespace assay::node::sim
