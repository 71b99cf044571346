// SPDX-License-Identifier: Apache-2.0
#include "node/blob/folder.hpp"

#include <fstream>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {

TEST_CASE("a temporary file that a killed process of the same number left keeps no note from being written") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::open(place / "jobs").value();
    // The names that this process comes to next.
    const FreshFile last = folder.make_fresh("new-", ".tmp").value();
    const std::size_t digits = last.name.rfind('-') + 1;
    const unsigned long count = std::stoul(last.name.substr(digits));
    constexpr unsigned long kLeft = 100;
    const auto left = [&](unsigned long number) {
        return last.name.substr(0, digits) + std::to_string(count + number) + ".tmp";
    };
    for (unsigned long number = 1; number <= kLeft; ++number) {
        std::ofstream(folder.path() / left(number)) << "cut sh";
    }
    REQUIRE(folder.replace("note", base::as_bytes("whole")).ok());
    CHECK(base::as_text(folder.read("note").value()) == "whole");
    // Whose they are is not known, so that they stay.
    for (unsigned long number = 1; number <= kLeft; ++number) {
        CHECK(base::as_text(folder.read(left(number)).value()) == "cut sh");
    }
    CHECK(folder.names().size() == 1 + kLeft + 1);
}

TEST_CASE("a file that is held is held by one, and removed by nobody who respects that, until it is closed") {
    const test::TemporaryFolder place;
    const Folder folder = Folder::open(place / "folder").value();
    const Folder again = Folder::open(place / "folder").value();
    auto held = folder.open_held("file").value();
    REQUIRE(held.has_value());
    CHECK_FALSE(folder.open_held("file").value().has_value());
    CHECK_FALSE(again.open_held("file").value().has_value());
    REQUIRE(again.remove_unheld("file").ok());
    CHECK(folder.has("file"));
    held.reset();
    CHECK(again.open_held("file").value().has_value());
    REQUIRE(again.remove_unheld("file").ok());
    CHECK_FALSE(folder.has("file"));
    CHECK(again.remove_unheld("file").ok());

    const FreshFile fresh = folder.make_fresh().value();
    REQUIRE(again.remove_unheld(fresh.name).ok());
    CHECK(folder.has(fresh.name));
}

}  // namespace assay::node
