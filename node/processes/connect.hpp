// SPDX-License-Identifier: Apache-2.0
// Gives processes and commands a client of a ledger node elsewhere. Waits for the node and checks that its
// chain is ours.
#pragma once

#include <chrono>
#include <memory>

#include "ledger/store/genesis.hpp"
#include "node/rpc/client.hpp"

namespace assay::node {

/// How long to wait for a node, and then for its answer about its chain.
inline constexpr std::chrono::seconds kNodePatience{15};

/// The status of the node that `client` names, which may be started again meanwhile: asks again, for
/// kNodePatience, as long as nobody answers (kUnreachable).
base::Outcome<LedgerStatus> ask_status(LedgerService& ledger, const ClientOptions& client);

/// Returns a client of the node once it answers. Errors: kUnreachable when the node does not come up, or then
/// does not answer, within kNodePatience each; kVerification when its chain is not the one of `genesis`.
base::Outcome<std::unique_ptr<LedgerService>> connect_to_chain(const ClientOptions& client,
                                                               const ledger::Genesis& genesis);

}  // namespace assay::node
