// SPDX-License-Identifier: Apache-2.0
// Gives miner, buyer and the commands of their homes the price that an owner sets for what a running process
// asks or bids in the market: a small file among its notes, written by `assay market ask` and `bid`, read by
// the process while it works. It stands before the process's own flag.
#pragma once

#include <optional>
#include <string>

#include "contracts/base/amount.hpp"
#include "contracts/base/hash.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// The note of the least that the home's miner works for.
std::string ask_order_note();
/// The note of the most that the home's buyer bids for the job.
std::string bid_order_note(const base::Hash256& job);

/// Nothing where there is no such note. kFailure when it cannot be read, or is no price.
base::Outcome<std::optional<base::Amount>> read_price_order(DiskPort& notes, const std::string& note);
/// All or nothing, and on disk when it returns. Nothing: the note is removed, and the flag holds.
base::Outcome<void> write_price_order(DiskPort& notes, const std::string& note,
                                      const std::optional<base::Amount>& price);

}  // namespace assay::node
