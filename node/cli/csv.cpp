// SPDX-License-Identifier: Apache-2.0
#include "node/cli/csv.hpp"

#include <CLI/CLI.hpp>
#include <ostream>

namespace assay::node {

void print_csv_record(std::ostream& out, const std::vector<std::string>& cells) {
    const char* before = "";
    for (const std::string& cell : cells) {
        out << before;
        before = ",";
        if (cell.find_first_of(",\"\r\n") == std::string::npos) {
            out << cell;
            continue;
        }
        out << '"';
        for (const char character : cell) out << (character == '"' ? "\"\"" : std::string(1, character));
        out << '"';
    }
    out << "\r\n";
}

std::string csv_amount(base::Amount amount) {
    const std::string text = base::to_text(amount);
    return text.substr(0, text.find(' '));
}

void allow_csv(CLI::App& verb, Context& context) {
    verb.parse_complete_callback([&context] { context.gives_csv = true; });
}

}  // namespace assay::node
