// SPDX-License-Identifier: Apache-2.0
// Gives settlement what a settled round leaves to the block log: the state keeps hash and place of what
// only audits read. Internal to the rules.
#pragma once

#include "contracts/rules/round/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The hash under which the state names a record that the log holds.
Hash256 hash_of_record(ByteView record);

/// Where the transaction that is carried out will stand, for the record that was made of it.
LogPlace place_in_log(const Work& work, const Sent& sent, ByteView record);

/// Takes reveals, the claims of audits and the clips of merges out of the state, as far as their places are
/// known.
void archive_round(State& state, const Hash256& job, std::uint32_t round);

}  // namespace assay::contracts
