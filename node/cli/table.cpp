// SPDX-License-Identifier: Apache-2.0
#include "node/cli/table.hpp"

#include <algorithm>
#include <ostream>

#include "contracts/base/check.hpp"

namespace assay::node {
namespace {

std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

void print_row(std::ostream& out, const std::vector<std::string>& cells, const std::vector<Column>& columns,
               const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string gap(widths[i] - width(cells[i]), ' ');
        if (i > 0) line += "  ";
        line += columns[i].align == Align::kRight ? gap + cells[i] : cells[i] + gap;
    }
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
}

}  // namespace

void TextTable::row(std::vector<std::string> cells) {
    ASSAY_CHECK(cells.size() == columns_.size());
    rows_.push_back(std::move(cells));
}

void TextTable::print(std::ostream& out) const {
    std::vector<std::string> titles;
    std::vector<std::size_t> widths;
    for (const Column& column : columns_) {
        titles.push_back(column.title);
        widths.push_back(width(column.title));
    }
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    print_row(out, titles, columns_, widths);
    for (const auto& row : rows_) print_row(out, row, columns_, widths);
    if (rows_.empty()) out << "(none)\n";
}

void print_fields(std::ostream& out, const std::vector<std::pair<std::string, std::string>>& fields) {
    std::size_t widest = 0;
    for (const auto& field : fields) widest = std::max(widest, width(field.first));
    for (const auto& [name, value] : fields)
        out << name << std::string(widest - width(name) + 2, ' ') << value << '\n';
}

}  // namespace assay::node
