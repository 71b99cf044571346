// SPDX-License-Identifier: Apache-2.0
#include "node/processes/connect.hpp"

#include <algorithm>

namespace assay::node {

base::Outcome<std::unique_ptr<LedgerService>> connect_to_chain(const ClientOptions& client,
                                                               const ledger::Genesis& genesis) {
    ClientOptions asking = client;
    asking.deadline = std::min<std::chrono::milliseconds>(client.deadline, kNodePatience);
    ASSAY_TRY(wait_until_healthy(asking, kNodePatience));
    ASSAY_ASSIGN(const auto asked, connect_ledger(asking));
    ASSAY_ASSIGN(const LedgerStatus status, asked->status());
    if (status.chain_id != genesis.chain_id || genesis.validators.power_of(status.sequencer) == 0) {
        return base::fail(base::ErrorKind::kVerification,
                          "the node at " + client.address + " runs chain " + status.chain_id +
                              ", this home belongs to " + genesis.chain_id,
                          "use another --node or another --home");
    }
    return connect_ledger(client);
}

}  // namespace assay::node
