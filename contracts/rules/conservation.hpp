// SPDX-License-Identifier: Apache-2.0
// Gives the rules and their tests the check of the conservation of money, from what was written and not
// from what was meant: the changed records are summed by bucket and compared with the running totals.
#pragma once

#include "contracts/rules/apply.hpp"
#include "contracts/rules/state/supply.hpp"

namespace assay::contracts {

/// The buckets of one record, by its key's table; zero for records that hold no money.
Result<Supply, Violation> money_in(ByteView key, ByteView value);

/// The sum of all buckets but `minted`; nothing on overflow.
std::optional<Amount> total(const Supply& supply);

/// True when, over the keys that `changes` touches, every bucket of the running totals moved exactly as the
/// records did, and the totals still add up to what was minted.
Result<void, Violation> check_changes(const StateView& before, const Overlay& changes);

/// The same for the whole state, from nothing.
Result<void, Violation> check_supply(const StateView& state);

}  // namespace assay::contracts
