// SPDX-License-Identifier: Apache-2.0
// Gives miner, buyer and the commands of their homes the price order, the price that an owner sets for what a
// running process asks or bids in the market. `assay market ask` and `bid` write it to a small file among the
// process's notes, which the process reads while it works. It overrides the process's own flag.
#pragma once

#include <optional>
#include <string>

#include "contracts/base/amount.hpp"
#include "contracts/base/hash.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// Name of the note of the least price for which the home's miner works.
std::string ask_order_note();
/// Name of the note of the most that the home's buyer bids for the job.
std::string bid_order_note(const base::Hash256& job);

/// Nothing when there is no such note. kFailure when it cannot be read, or is no price.
base::Outcome<std::optional<base::Amount>> read_price_order(DiskPort& notes, const std::string& note);
/// Writes all or nothing; the note is on disk when it returns. Without a price the note is removed, and the
/// flag holds.
base::Outcome<void> write_price_order(DiskPort& notes, const std::string& note,
                                      const std::optional<base::Amount>& price);

}  // namespace assay::node
