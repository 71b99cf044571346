// SPDX-License-Identifier: Apache-2.0
// Gives processes and commands a ledger node elsewhere: waited for, and asked whether its chain is ours.
#pragma once

#include <chrono>
#include <memory>

#include "ledger/store/genesis.hpp"
#include "node/rpc/client.hpp"

namespace assay::node {

/// How long a node is waited for, and then for its answer about its chain.
inline constexpr std::chrono::seconds kNodePatience{15};

/// A client of the node, once it answers. Errors: kUnreachable when it does not within kNodePatience, twice
/// at most; kVerification when its chain is not the one of `genesis`.
base::Outcome<std::unique_ptr<LedgerService>> connect_to_chain(const ClientOptions& client,
                                                               const ledger::Genesis& genesis);

}  // namespace assay::node
