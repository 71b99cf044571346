// SPDX-License-Identifier: Apache-2.0
// Gives main() and tests the program `assay` as a function.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/cli/settings.hpp"
#include "node/roles/refusal.hpp"

namespace assay::node {

/// Runs one invocation; `arguments` without argv[0]. Returns the exit code (docs/reference/exit-codes.md).
int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

/// Prints "error: what\n fix: …", or {"error": {"code", "kind", "message", "fix"}} in JSON mode, where a
/// refusal of the ledger adds "reason": {"number", "name"}.
void print_error(std::ostream& err, const base::Error& error, OutputMode mode,
                 const std::optional<LedgerRefusal>& refusal = std::nullopt);

}  // namespace assay::node
