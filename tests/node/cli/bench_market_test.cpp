// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_market.hpp"

#include <algorithm>
#include <cstdlib>

#include "tests/support/catch.hpp"

namespace assay::node::test {

namespace {

MarketBench measured(const std::string& only, bool peers) {
    BenchOptions options;
    options.only = only;
    options.peers = peers;
    const auto bench = bench_market(options, [](const std::string&) {});
    REQUIRE(bench.ok());
    return *bench;
}

std::vector<std::string> names_of(const MarketBench& bench) {
    std::vector<std::string> names;
    for (const MarketRow& row : bench.rows) names.push_back(row.name);
    return names;
}

}  // namespace

TEST_CASE(
    "the bench of the market has a row and a limit for the clearing, and names a peer that is missing") {
    REQUIRE(::setenv("ASSAY_PEER_PYTHON", "/bin/false", 1) == 0);
    const MarketBench bench = measured("clearing 1000x1000", true);
    CHECK(bench.welfare.empty());
    // Beside the relaxation, and beside the integer program.
    CHECK(names_of(bench) == std::vector<std::string>{"why_ms, bid", "why_ms, ask",
                                                      "why_ms, bid, from the state",
                                                      "why_ms, ask, from the state", "clearing_ms", "welfare",
                                                      "clearing_ms", "welfare"});
    for (const MarketRow& row : bench.rows) {
        CAPTURE(row.name);
        CHECK(row.shape == "1000x1000");
        CHECK(row.value > 0);
        CHECK(!row.peer_value);
        CHECK(!row.ratio);
        const bool is_welfare = row.name == "welfare";
        CHECK(row.unit == (is_welfare ? "of the best" : "ms"));
        CHECK(row.limit == (is_welfare                  ? std::nullopt
                            : row.name == "clearing_ms" ? std::optional(10.0)
                                                        : std::optional(20.0)));
        CHECK(row.met().has_value() == row.limit.has_value());
        const bool has_peer = is_welfare || row.name == "clearing_ms";
        CHECK((row.peer.find("HiGHS") == 0) == has_peer);
        CHECK((row.peer.find("missing: run make bench-peers") != std::string::npos) == has_peer);
    }
}

TEST_CASE(
    "a row of the market's bench meets its limit up to the limit itself, and none where there is none") {
    MarketRow row;
    row.value = 10;
    CHECK(row.met() == std::nullopt);
    row.limit = 10.0;
    CHECK(row.met() == true);
    row.value = 10.01;
    CHECK(row.met() == false);
}

TEST_CASE("the bench of the market without peers measures ours once") {
    const MarketBench bench = measured("clearing 1000x1000", false);
    const auto is_welfare = [](const MarketRow& row) { return row.name == "welfare"; };
    CHECK(names_of(bench) ==
          std::vector<std::string>{"why_ms, bid", "why_ms, ask", "why_ms, bid, from the state",
                                   "why_ms, ask, from the state", "clearing_ms", "welfare"});
    const MarketRow& row = *std::find_if(bench.rows.begin(), bench.rows.end(), is_welfare);
    CHECK(row.peer.empty());
    CHECK(!row.met());
    CHECK(row.value > 0.99);
    CHECK(row.value <= 1);
}

TEST_CASE("the bench of the market has a row and a limit for the block that clears on a ledger") {
    const MarketBench bench = measured("ledger 1000x1000", false);
    REQUIRE(bench.rows.size() == 2);
    CHECK(bench.rows[0].name == "clearing_block_ms");
    CHECK(bench.rows[0].limit == 100.0);
    CHECK(bench.rows[1].name == "epoch_ms");
    CHECK(!bench.rows[1].limit);  // the large shape's has one
    CHECK(bench.rows[1].value > bench.rows[0].value);
}

TEST_CASE("a bench of the market that nothing is asked of measures nothing") {
    const MarketBench bench = measured("no such case", true);
    CHECK(bench.rows.empty());
    CHECK(bench.welfare.empty());
}

}  // namespace assay::node::test
