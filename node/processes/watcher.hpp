// SPDX-License-Identifier: Apache-2.0
// Gives commands watch_ledger(), which follows a ledger node: it executes each block and passes its events to
// a handler.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "node/roles/follower.hpp"
#include "node/rpc/tls.hpp"

namespace assay::node {

struct WatchOptions {
    std::string node_address;
    std::optional<TlsFiles> tls;
    ledger::Genesis genesis;
    /// How long a node that gives no answer at all is asked again. Zero: the watch ends with its connection.
    std::chrono::milliseconds patience{60'000};
};

/// Called after each block; return false to end the watch.
using WatchHandler = std::function<bool(const Follower& ledger, const contracts::Events& events)>;

/// Blocks until the handler ends it, `stop` is requested, or something fails (kUnreachable, kVerification).
/// A node closes connections by their age, and may be started again: the watch then goes on behind the last
/// block that it passed on.
base::Outcome<void> watch_ledger(const WatchOptions& options, std::stop_token stop,
                                 const WatchHandler& handler);

}  // namespace assay::node
