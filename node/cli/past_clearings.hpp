// SPDX-License-Identifier: Apache-2.0
// Gives `job why` and `miner why` the clearings of a ledger, with all that was opened for each. No node keeps
// them, so the blocks are executed again from the genesis on.
#pragma once

#include <functional>
#include <string>

#include "contracts/base/error.hpp"
#include "node/cli/state_source.hpp"
#include "node/views/cleared_market.hpp"

namespace assay::node {

struct PastClearings {
    std::string genesis;      ///< a file, kept in the home; empty: the home's own
    std::uint64_t epoch = 0;  ///< only this epoch; 0: all
};

/// Calls `visit` with each clearing up to the chain's height, ascending. While bids and lots are being
/// opened, the last call is for the next clearing, as it would be if nothing more were sent. Shows its
/// progress on stderr. Checks the blocks, whatever their source. kNotFound when there is no genesis, or no
/// such epoch was cleared; kVerification when a block does not check.
base::Outcome<void> visit_clearings(const Context& context, const ChainSource& chain,
                                    const PastClearings& wanted,
                                    const std::function<void(const ClearedMarket&)>& visit);

}  // namespace assay::node
