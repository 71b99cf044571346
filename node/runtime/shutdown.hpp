// SPDX-License-Identifier: Apache-2.0
// Gives processes SIGINT and SIGTERM as a stop token.
#pragma once

#include <stop_token>

namespace assay::node {

/// Returns a token whose stop the first SIGINT or SIGTERM requests. A second signal ends the process with its
/// default action. Blocks both signals in the calling thread and ignores SIGPIPE. Call it once, first in
/// main, before any other thread exists.
std::stop_token stop_on_signals();

/// The signal that came first; 0 before any came.
int stop_signal();

}  // namespace assay::node
