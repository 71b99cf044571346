// SPDX-License-Identifier: Apache-2.0
// reference_pages [--root DIR] [--write]: the tables of docs/reference, as the code has them. Without --write
// the pages are compared; exit code 1 and the first line that differs when one is out of date.
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "tests/tools/reference_tables.hpp"

namespace {

using assay::docs::PageTable;

std::optional<std::string> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The number of the first line in which two texts differ.
std::size_t first_difference(const std::string& one, const std::string& other) {
    std::size_t number = 1;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()) && one[i] == other[i]; ++i) {
        if (one[i] == '\n') ++number;
    }
    return number;
}

/// `page` with the table in its place; nothing when its two marks are not there, once each and in order.
std::optional<std::string> put(const std::string& page, const PageTable& table) {
    const std::string begin = "<!-- table " + std::string(table.name) + " -->\n";
    const std::string end = "<!-- end " + std::string(table.name) + " -->\n";
    const std::size_t from = page.find(begin);
    const std::size_t to = page.find(end);
    if (from == std::string::npos || to == std::string::npos || to < from + begin.size()) return std::nullopt;
    if (page.find(begin, from + 1) != std::string::npos || page.find(end, to + 1) != std::string::npos) {
        return std::nullopt;
    }
    return page.substr(0, from + begin.size()) + table.markdown() + page.substr(to);
}

bool is_right(const std::string& root, const PageTable& table, bool write) {
    const std::string path = root + "/" + std::string(table.page);
    const auto page = read(path);
    const auto made = page ? put(*page, table) : std::nullopt;
    if (!made) {
        std::cout << table.page << ": the marks of the table '" << table.name << "' are not there once\n";
        return false;
    }
    if (*made == *page) return true;
    if (write) {
        std::ofstream file(path, std::ios::binary);
        file << *made;
        return file.flush().good();
    }
    std::cout << table.page << ":" << first_difference(*page, *made) << ": the table '" << table.name
              << "' is out of date; run in the root of the tree: build/bin/reference_pages --write\n";
    return false;
}

}  // namespace

int main(int count, char** arguments) {
    std::string root = ".";
    bool write = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = arguments[i];
        if (word == "--write") {
            write = true;
        } else if (word == "--root" && i + 1 < count) {
            root = arguments[++i];
        } else {
            std::cerr << "usage: reference_pages [--root DIR] [--write]\n";
            return 2;
        }
    }
    int wrong = 0;
    for (const PageTable& table : assay::docs::reference_tables()) {
        if (!is_right(root, table, write)) ++wrong;
    }
    std::cout << "reference pages: " << assay::docs::reference_tables().size() << " tables, " << wrong
              << " problems\n";
    return wrong == 0 ? 0 : 1;
}
