// SPDX-License-Identifier: Apache-2.0
#include "node/processes/watcher.hpp"

#include "node/rpc/client.hpp"

namespace assay::node {

base::Outcome<void> watch_ledger(const WatchOptions& options, std::stop_token stop,
                                 const WatchHandler& handler) {
    ClientOptions client;
    client.address = options.node_address;
    client.tls = options.tls;
    ASSAY_ASSIGN(const auto ledger, connect_ledger(client));
    ASSAY_ASSIGN(Follower follower, Follower::create(options.genesis));
    std::optional<base::Error> failure;
    const auto on_block = [&](const BlockNotice& notice) {
        auto block = ledger->block(notice.height);
        if (!block.ok()) {
            failure = block.error();
            return false;
        }
        auto events = follower.apply(*block);
        if (!events.ok()) {
            failure = events.error();
            return false;
        }
        return handler(follower, *events);
    };
    ASSAY_TRY(ledger->subscribe(1, std::move(stop), on_block));
    if (failure) return base::failed(*failure);
    return {};
}

}  // namespace assay::node
