// SPDX-License-Identifier: Apache-2.0
#include "node/processes/watcher.hpp"

#include <condition_variable>
#include <mutex>

#include "node/rpc/client.hpp"

namespace assay::node {

namespace {

/// Sleeps until the next attempt is due, or `stop` is requested.
void pause(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    never.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
}

/// Follows the ledger over one connection, from the first block that `follower` does not have.
base::Outcome<void> watch_once(LedgerService& ledger, Follower& follower, const std::stop_token& stop,
                               const WatchHandler& handler) {
    std::optional<base::Error> failure;
    const auto on_block = [&](const BlockNotice& notice) {
        auto block = ledger.block(notice.height);
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
    ASSAY_TRY(ledger.subscribe(follower.height() + 1, stop, on_block));
    if (failure) return base::failed(*failure);
    return {};
}

}  // namespace

base::Outcome<void> watch_ledger(const WatchOptions& options, std::stop_token stop,
                                 const WatchHandler& handler) {
    using SteadyClock = std::chrono::steady_clock;
    ClientOptions client;
    client.address = options.node_address;
    client.tls = options.tls;
    ASSAY_ASSIGN(const auto ledger, connect_ledger(client));
    ASSAY_ASSIGN(Follower follower, Follower::create(options.genesis));
    auto heard = SteadyClock::now();
    while (true) {
        const std::uint64_t before = follower.height();
        auto watched = watch_once(*ledger, follower, stop, handler);
        const bool lost = !watched.ok() && watched.error().kind == base::ErrorKind::kUnreachable;
        if (!lost || options.patience == options.patience.zero()) return watched;
        // No block may have been due since the last attempt, so that a node is asked whether it is there.
        if (follower.height() > before || ledger->status().ok()) heard = SteadyClock::now();
        if (SteadyClock::now() - heard >= options.patience) return watched;
        pause(stop);
        if (stop.stop_requested()) return {};
    }
}

}  // namespace assay::node
