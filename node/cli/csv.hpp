// SPDX-License-Identifier: Apache-2.0
// Gives commands tables for programs that calculate: comma-separated values as RFC 4180 has them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "contracts/base/amount.hpp"
#include "node/cli/context.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

/// One record and its line end (CR LF). A cell with a comma, a quote or a line end stands in quotes, in which
/// a quote is two.
void print_csv_record(std::ostream& out, const std::vector<std::string>& cells);

/// ASY with six decimals and no unit: "0.001100".
std::string csv_amount(base::Amount amount);

/// Lets `-o csv` be asked of this command. Others refuse it.
void allow_csv(CLI::App& verb, Context& context);

}  // namespace assay::node
