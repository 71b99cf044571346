// SPDX-License-Identifier: Apache-2.0
// Gives processes SIGINT and SIGTERM as a stop token.
#pragma once

#include <stop_token>

namespace assay::node {

/// The token that the first SIGINT or SIGTERM requests; a second one ends the process with its default
/// action. Blocks both signals in the calling thread: call once, first thing in main, before any thread
/// exists. SIGPIPE is ignored from then on.
std::stop_token stop_on_signals();

/// The signal that came first; 0 while none has.
int stop_signal();

}  // namespace assay::node
