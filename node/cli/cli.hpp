// SPDX-License-Identifier: Apache-2.0
// The program `assay` as a function.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/cli/settings.hpp"

namespace assay::node {

/// Runs one invocation; `arguments` without argv[0]. Returns the exit code (docs/reference/exit-codes.md).
int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

/// "error: what\n  fix: …", or {"error": {"code", "kind", "message", "fix"}} in JSON mode.
void print_error(std::ostream& err, const base::Error& error, OutputMode mode);

}  // namespace assay::node
