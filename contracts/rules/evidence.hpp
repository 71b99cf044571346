// SPDX-License-Identifier: Apache-2.0
// What the state only names and the block log holds, for auditors: which transactions to look up, and the
// records that were made of them. With those put back, a state says everything about its settled rounds.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// A record that is not in the state, or not whole.
struct Evidence {
    Bytes key;  ///< of the record, as it was before its round was settled
    LogPlace place;
};

/// Of all settled rounds, ascending by table, job and round.
std::vector<Evidence> list_evidence(const StateView& state);

/// The record, made again of the bytes of its transaction. Nothing when they are another transaction, or do
/// not give the record that the state names.
std::optional<Bytes> recover(const StateView& state, const Evidence& evidence, ByteView signed_transaction);

}  // namespace assay::contracts
