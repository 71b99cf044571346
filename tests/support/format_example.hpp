// SPDX-License-Identifier: Apache-2.0
// Holds the byte examples of docs/formats to the program: a page has a dump, and a test makes the same bytes.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "contracts/base/bytes.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

/// docs/formats/NAME, of the tree that ASSAY_SOURCE_DIR names; CTest sets it.
inline std::string format_page(const std::string& name) {
    const char* root = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(root != nullptr);
    std::ifstream file(std::filesystem::path(root) / "docs/formats" / name);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Sixteen bytes a line, each line with the offset of its first byte.
inline std::string hex_dump(base::ByteView bytes) {
    std::string out;
    char text[24];
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (at % 16 == 0) {
            std::snprintf(text, sizeof text, "%08zx ", at);
            out += text;
        }
        std::snprintf(text, sizeof text, " %02x", bytes[at]);
        out += text;
        if (at % 16 == 15 || at + 1 == bytes.size()) out += "\n";
    }
    return out;
}

/// The page shows these bytes, in a block of its own.
inline void check_example(const std::string& page, base::ByteView bytes) {
    const std::string block = "```\n" + hex_dump(bytes) + "```\n";
    INFO("the example should be\n" << block);
    CHECK(format_page(page).find(block) != std::string::npos);
}

}  // namespace assay::test
