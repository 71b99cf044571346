// SPDX-License-Identifier: Apache-2.0
// Gives commands TextTable, tables for people: aligned columns, without colour or boxes, so that they look
// the same in a terminal, a pipe and a bug report.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace assay::node {

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
    std::string title;
    Align align = Align::kLeft;
};

class TextTable {
public:
    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// REQUIRES cells.size() == number of columns. Cells are UTF-8; width counts code points.
    void row(std::vector<std::string> cells);
    /// Titles first; "(none)" when there is no row.
    void print(std::ostream& out) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Prints "name value" lines for one object.
void print_fields(std::ostream& out, const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace assay::node
