// SPDX-License-Identifier: Apache-2.0
#include "node/processes/connect.hpp"

#include <algorithm>

namespace assay::node {

namespace {
constexpr std::chrono::milliseconds kNodePatience{15'000};
}  // namespace

base::Outcome<std::unique_ptr<LedgerService>> connect_to_chain(const ClientOptions& client,
                                                               const ledger::Genesis& genesis) {
    ClientOptions asking = client;
    asking.deadline = std::min(client.deadline, kNodePatience);
    ASSAY_TRY(wait_until_healthy(asking, kNodePatience));
    ASSAY_ASSIGN(auto ledger, connect_ledger(client));
    ASSAY_ASSIGN(const LedgerStatus status, ledger->status());
    if (status.chain_id != genesis.chain_id || genesis.validators.power_of(status.sequencer) == 0) {
        return base::fail(base::ErrorKind::kVerification,
                          "the node at " + client.address + " runs chain " + status.chain_id +
                              ", this home belongs to " + genesis.chain_id,
                          "use another --node or another --home");
    }
    return ledger;
}

}  // namespace assay::node
