// SPDX-License-Identifier: Apache-2.0
// The list of docs/security.md of which strategy runs as processes, and in which scenario.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "node/sim/strategies.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim {
namespace {

std::filesystem::path source_folder() {
    const char* folder = std::getenv("ASSAY_SOURCE_DIR");
    INFO("ASSAY_SOURCE_DIR names the tree; CTest sets it");
    REQUIRE(folder != nullptr);
    return folder;
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    REQUIRE(stream.good());
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Names of the test cases in tests/scenarios, with the pieces of a broken literal joined.
std::set<std::string> scenario_names() {
    static const std::regex kBreak("\"\\s*\n\\s*\"");
    static const std::regex kCase("TEST_CASE\\(\\s*\"([^\"]*)\"");
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(source_folder() / "tests/scenarios")) {
        if (file.path().extension() != ".cpp") continue;
        const std::string text = std::regex_replace(text_of(file.path()), kBreak, "");
        for (std::sregex_iterator at(text.begin(), text.end(), kCase), end; at != end; ++at) {
            names.insert((*at)[1]);
        }
    }
    return names;
}

/// Strategy and scenario of the rows behind the heading "As processes".
std::map<std::string, std::string> listed() {
    static const std::regex kRow("\\| ([a-z-]+) \\| ([^|\n]+) \\|\n");
    std::string text = text_of(source_folder() / "docs/security.md");
    const auto begin = text.find("\n## As processes\n");
    REQUIRE(begin != std::string::npos);
    text = text.substr(begin + 1, text.find("\n## ", begin + 1) - begin);
    std::map<std::string, std::string> rows;
    for (std::sregex_iterator at(text.begin(), text.end(), kRow), end; at != end; ++at) {
        if ((*at)[1] != "strategy") rows[(*at)[1]] = (*at)[2];
    }
    return rows;
}

}  // namespace

TEST_CASE("every strategy of the simulator names the scenario that plays it as a process") {
    const auto rows = listed();
    const auto scenarios = scenario_names();
    REQUIRE_FALSE(scenarios.empty());
    std::set<std::string> alone;
    for (const CheatRow& strategy : strategies()) {
        const std::string name(strategy.name);
        if (name == "honest") continue;
        INFO(name);
        REQUIRE(rows.contains(name));
        const std::string& where = rows.at(name);
        if (where == "simulation alone") {
            alone.insert(name);
            continue;
        }
        REQUIRE(where.size() > 2);
        CHECK(scenarios.contains(where.substr(1, where.size() - 2)));
    }
    CHECK(rows.size() + 1 == strategies().size());
    CHECK(alone == std::set<std::string>{"bought-fault", "flash-stake", "last-look", "last-look-at-any-price",
                                         "last-look-bought", "laundered-standing", "link-for-accomplice",
                                         "sniping-bidder", "sybil-panel"});
}

TEST_CASE("misconduct on purpose is for devnets: another chain refuses it by name") {
    CHECK(check_may_drill("devnet-7").ok());
    for (const char* chain : {"", "main", "a-devnet"}) {
        const auto refused = check_may_drill(chain);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK(refused.error().what.find("devnet only") != std::string::npos);
    }
    for (const MisconductRow& row : misconduct_rows()) {
        CHECK(find_misconduct(row.role, row.name) == row.conduct);
        CHECK(to_text(row.conduct) == row.name);
        CHECK(find_strategy(row.name) != nullptr);  // under the simulator's names
    }
}

}  // namespace assay::node::sim
