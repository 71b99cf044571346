// SPDX-License-Identifier: Apache-2.0
// Gives commands that take long a handler for Ctrl-C.
#pragma once

#include <string>

#include "node/cli/context.hpp"

namespace assay::node {

/// From here on SIGINT and SIGTERM end the process at once with exit code 130 and the usual error on stderr.
/// For commands that leave nothing half written: they write their result last, by renaming, and their worker
/// ends with them; or whose next run goes on from what is there, as their `fix` then says. Call once, before
/// any thread exists.
void end_on_interrupt(const Context& context,
                      const std::string& fix = "nothing was written; run the command again");

}  // namespace assay::node
