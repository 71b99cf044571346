// SPDX-License-Identifier: Apache-2.0
// Tables of docs/reference, made from the tables that the code itself uses: a row of code is a row of the
// page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::docs {

/// A Markdown table and where it stands: between the lines `<!-- table NAME -->` and `<!-- end NAME -->` of
/// `page`, a path from the root of the tree.
struct PageTable {
    std::string_view page;
    std::string_view name;
    std::string (*markdown)();
};

/// Every table that reference_pages writes and compares. To add one: a function below, a row in
/// reference_tables.cpp, the two marks in the page.
const std::vector<PageTable>& reference_tables();

std::string reasons_table();            // contracts/rules/state/reasons.hpp
std::string parameters_table();         // contracts/rules/state/params.hpp
std::string market_parameters_table();  // contracts/rules/market/params.hpp
std::string limits_table();             // contracts/rules/state/limits.hpp
std::string job_limits_table();         // contracts/program/limits.hpp
std::string job_rules_table();          // contracts/program/limits.hpp
std::string exit_codes_table();         // contracts/base/error_names.hpp
std::string operators_table();          // contracts/program/operator_table.hpp (reference_operators.cpp)
std::string transactions_table();       // contracts/rules/transactions.hpp (reference_transactions.cpp)

/// "| a | b |\n", with `|` inside a cell escaped.
std::string line(const std::vector<std::string>& cells);
/// The head of a table: titles and the line under them.
std::string head(const std::vector<std::string>& titles);
/// "`text`".
std::string code(std::string_view text);
/// 1,000,000.
std::string grouped(std::uint64_t number);

}  // namespace assay::docs
