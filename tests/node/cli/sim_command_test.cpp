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

TEST_CASE("sim run market plays a market in which lots are sold, and says the same again for the same seed") {
    const Cli cli;
    const std::vector<std::string> words = {"sim", "run",      "market", "--miners", "20",  "--jobs",
                                            "4",   "--epochs", "2",      "-o",       "json"};
    const CliRun run = cli(words);
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.json().at("schema") == "assay.sim.market/v1");
    const auto row = run.json().at("rows").at(0);
    CHECK(keys_of(row) == std::set<std::string>{"scenario", "seed", "miners", "jobs", "epochs", "clearing_ms",
                                                "epoch_ms", "welfare_ratio", "revenue", "price_sd", "jain",
                                                "starved", "transactions", "gain", "course"});
    CHECK(row.at("scenario") == "truthful");
    REQUIRE(row.at("course").size() == 2);
    std::uint64_t sold = 0;
    for (const auto& epoch : row.at("course")) {
        CHECK(keys_of(epoch) ==
              std::set<std::string>{"epoch", "offered", "wanted", "sold", "price", "base_price"});
        CHECK(epoch.at("sold") <= epoch.at("offered"));
        CHECK((epoch.at("sold") > 0) == (epoch.at("price") > 0));
        sold += epoch.at("sold").get<std::uint64_t>();
    }
    CHECK(sold > 0);
    CHECK(row.at("revenue") > 0);
    CHECK(row.at("welfare_ratio") > 0);
    auto again = cli(words).json().at("rows").at(0);
    for (const char* time : {"clearing_ms", "epoch_ms"}) again[time] = row.at(time);
    CHECK(again == row);
}

TEST_CASE("sim run market refuses a scenario that there is not, and sizes of no market") {
    const Cli cli;
    const CliRun unknown = cli({"sim", "run", "market", "--scenarios", "truthful,greedy"});
    CHECK(unknown.code == 2);
    CHECK(unknown.err.find("there is no scenario 'greedy'") != std::string::npos);
    CHECK(unknown.err.find("\n  fix: scenarios are: all, truthful, ") != std::string::npos);
    CHECK(unknown.out.empty());
    for (const char* size : {"--miners", "--jobs", "--epochs"})
        CHECK(cli({"sim", "run", "market", size, "0"}).code == 2);
}

}  // namespace assay::test
