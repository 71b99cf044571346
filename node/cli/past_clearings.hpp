// SPDX-License-Identifier: Apache-2.0
// Gives `job why` and `miner why` the clearings of a ledger, with all that was opened for each. No node keeps
// it: the blocks are executed again, from the genesis on.
#pragma once

#include <functional>
#include <string>

#include "contracts/base/error.hpp"
#include "node/cli/state_source.hpp"
#include "node/views/cleared_market.hpp"

namespace assay::node {

struct PastClearings {
    std::string genesis;      ///< a file, kept in the home; empty: the home's own
    std::uint64_t epoch = 0;  ///< that one alone; 0: all
};

/// Calls `visit` with each clearing up to the chain's height, ascending; while bids and lots are being
/// opened, at last with what the next one would come to if nothing more were sent. Shows its progress on
/// stderr. The blocks are checked, whoever gave them. kNotFound: no genesis, or no such epoch was cleared;
/// kVerification.
base::Outcome<void> visit_clearings(const Context& context, const ChainSource& chain,
                                    const PastClearings& wanted,
                                    const std::function<void(const ClearedMarket&)>& visit);

}  // namespace assay::node
