// SPDX-License-Identifier: Apache-2.0
// Archives a round that is settled and has no open claim: what only audits read leaves the state. The block
// log has it, and the state keeps its hash and place. Internal to the rules.
#pragma once

#include "contracts/rules/round/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The hash under which the state names a record that the log holds.
Hash256 hash_of_record(ByteView record);

/// The place in the block log of the transaction that is carried out, for the record made from it.
LogPlace place_in_log(const Work& work, const Sent& sent, ByteView record);

/// Removes what miners served from the state, and those reveals, claims of audits and clips of merges whose
/// places in the block log are known.
void archive_round(State& state, const Hash256& job, std::uint32_t round);

}  // namespace assay::contracts
