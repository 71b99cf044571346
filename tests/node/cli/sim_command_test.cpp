// SPDX-License-Identifier: Apache-2.0
// assay sim run
#include "tests/node/cli/cli_fixture.hpp"

namespace assay::test {

TEST_CASE("sim run prints the same bytes for the same seed, however many strategies are played at a time") {
    const Cli cli;
    const std::vector<std::string> words = {"sim",      "run", "--strategies", "late-cheat,starving-buyer",
                                            "--rounds", "16",  "--seeds",      "2",
                                            "-o",       "json"};
    const CliRun first = cli(words);
    INFO(first.err);
    REQUIRE(first.code == 0);
    for (const char* threads : {"1", "3"}) {
        std::vector<std::string> again = words;
        again.insert(again.end(), {"--threads", threads});
        CHECK(first.out == cli(again).out);
    }
    CHECK(first.err.find("late-cheat played") != std::string::npos);
    const auto rows = first.json()["rows"];
    REQUIRE(rows.size() == 2);
    CHECK(keys_of(rows[0]) == std::set<std::string>{"strategy", "level", "seeds", "rounds", "predicted",
                                                    "measured", "low", "high", "profit_one", "profit_third",
                                                    "honest_forfeits"});
    CHECK(rows[0]["strategy"] == "late-cheat");
    CHECK(rows[0]["seeds"] == 2);
    CHECK(rows[0]["rounds"] >= 16);
}

TEST_CASE("sim run refuses by name what it cannot play") {
    const Cli cli;
    const auto refused = [&](std::vector<std::string> words, const std::string& about) {
        words.insert(words.begin(), {"sim", "run"});
        const CliRun run = cli(words);
        INFO(run.err);
        CHECK(run.code == 2);
        CHECK(run.err.find(about) != std::string::npos);
    };
    refused({"--strategies", "lazzy"}, "there is no strategy 'lazzy'");
    refused({"--strategies", "lazy", "--rounds", "0"}, "--rounds");
    refused({"--strategies", "lazy", "--rounds", "4", "--seeds", "5"}, "--seeds");
    refused({"--strategies", "lazy", "--seeds", "0"}, "--seeds");
    refused({"--strategies", "lazy", "--compute-share", "1.5"}, "--compute-share");
    refused({"--strategies", "lazy", "--compute-share", "nan"}, "--compute-share");
    refused({}, "--strategies");
}

}  // namespace assay::test
