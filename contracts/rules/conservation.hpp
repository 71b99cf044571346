// SPDX-License-Identifier: Apache-2.0
// The check that money is conserved, for the rules and their tests. It looks at what was written, not at what
// was meant: it sums the changed records by bucket and compares the sums with the running totals.
#pragma once

#include "contracts/rules/apply.hpp"
#include "contracts/rules/state/supply.hpp"

namespace assay::contracts {

/// The money in one record by bucket, according to its key's table; zero for a record that holds no money.
Result<Supply, Violation> money_in(ByteView key, ByteView value);

/// The sum of all buckets except `minted`; nothing on overflow.
std::optional<Amount> total(const Supply& supply);

/// Fails unless, over the keys that `changes` touches, every bucket of the running totals moved exactly as
/// the records did, and the totals still add up to what was minted.
Result<void, Violation> check_changes(const StateView& before, const Overlay& changes);

/// Checks the same for the whole state, from all its records.
Result<void, Violation> check_supply(const StateView& state);

}  // namespace assay::contracts
