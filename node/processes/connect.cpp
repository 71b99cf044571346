// SPDX-License-Identifier: Apache-2.0
#include "node/processes/connect.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace assay::node {

base::Outcome<LedgerStatus> ask_status(LedgerService& ledger, const ClientOptions& client) {
    const auto until = std::chrono::steady_clock::now() + kNodePatience;
    while (true) {
        auto status = ledger.status();
        const bool restarts = !status.ok() && status.error().kind == base::ErrorKind::kUnreachable;
        if (!restarts || std::chrono::steady_clock::now() >= until) return status;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ASSAY_TRY(wait_until_healthy(client, kNodePatience));
    }
}

base::Outcome<std::unique_ptr<LedgerService>> connect_to_chain(const ClientOptions& client,
                                                               const ledger::Genesis& genesis) {
    ClientOptions asking = client;
    asking.deadline = std::min<std::chrono::milliseconds>(client.deadline, kNodePatience);
    ASSAY_TRY(wait_until_healthy(asking, kNodePatience));
    ASSAY_ASSIGN(const auto asked, connect_ledger(asking));
    ASSAY_ASSIGN(const LedgerStatus status, ask_status(*asked, asking));
    if (status.chain_id != genesis.chain_id || genesis.validators.power_of(status.sequencer) == 0) {
        return base::fail(base::ErrorKind::kVerification,
                          "the node at " + client.address + " runs chain " + status.chain_id +
                              ", this home belongs to " + genesis.chain_id,
                          "use another --node or another --home");
    }
    return connect_ledger(client);
}

}  // namespace assay::node
