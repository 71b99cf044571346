// SPDX-License-Identifier: Apache-2.0
// Gives auditors fetch_ledger(), which brings a node's blocks into a ledger of their own. The node is
// believed in nothing but how many blocks it has.
#pragma once

#include <cstdint>
#include <functional>

#include "contracts/base/error.hpp"
#include "ledger/engine/chain.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

/// Compares the tip of `chain` with the block that the node has there; nothing is compared of an empty chain.
/// kVerification when the node has another block, or fewer than the chain.
base::Outcome<void> check_same_past(LedgerService& node, const ledger::Chain& chain, std::uint64_t height);

/// Fetches, checks, executes and stores the blocks above the chain's up to `last`. Blocks up to the first
/// that fails are kept, so that a later call goes on from there. Errors: kVerification when a block does not
/// decode or does not follow (the error names it), those of LedgerService::block, and those of the disk
/// (Chain::adopt). `progress` is called after every block with the chain's height.
base::Outcome<void> fetch_ledger(LedgerService& node, ledger::Chain& chain, std::uint64_t last,
                                 const std::function<void(std::uint64_t height)>& progress);

}  // namespace assay::node
