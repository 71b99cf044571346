// SPDX-License-Identifier: Apache-2.0
// Gives commands the traces that slots opened in settled rounds, from the blocks of a running node. The state
// keeps a hash and a place of each, and the bytes are checked against both.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/tables.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

/// The trace that a slot opened; nothing when it opened none. Asks `ledger` for the block if the round is
/// settled. kVerification when the block does not hold what the state names.
base::Outcome<std::optional<contracts::Reveal>> reveal_of(LedgerService& ledger,
                                                          const contracts::StateView& state,
                                                          const base::Hash256& job, std::uint32_t round,
                                                          std::uint32_t slot);

}  // namespace assay::node
