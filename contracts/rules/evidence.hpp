// SPDX-License-Identifier: Apache-2.0
// Records that the state only names by their hash and that the block log holds, for auditors: which
// transactions to look up, and the records made from them. With these records put back, a state is complete
// for its settled rounds.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// A record that the state does not hold, or holds only in part.
struct Evidence {
    Bytes key;  ///< of the record, as it was before its round was settled
    LogPlace place;
};

/// Lists the evidence of all settled rounds, ascending by table, job and round.
std::vector<Evidence> list_evidence(const StateView& state);

/// Makes the record again from the bytes of its transaction. Returns nothing when the bytes are another
/// transaction, or do not give the record that the state names.
std::optional<Bytes> recover(const StateView& state, const Evidence& evidence, ByteView signed_transaction);

}  // namespace assay::contracts
