// SPDX-License-Identifier: Apache-2.0
// Gives commands tables for other programs: comma-separated values as in RFC 4180.
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

/// Prints one record and its line end (CR LF). A cell with a comma, a quote or a line end is put in quotes,
/// and a quote in it is doubled.
void print_csv_record(std::ostream& out, const std::vector<std::string>& cells);

/// ASY with six decimals and no unit: "0.001100".
std::string csv_amount(base::Amount amount);

/// Allows `-o csv` for this command. Others refuse it.
void allow_csv(CLI::App& verb, Context& context);

}  // namespace assay::node
