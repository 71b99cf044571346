// SPDX-License-Identifier: Apache-2.0
// What the commands of the market say, from the files of a home and from a ledger node.
#include "node/runtime/ledger_node.hpp"
#include "tests/node/cli/market_home.hpp"

namespace assay::test {

using nlohmann::json;

namespace {

const MarketHome& home() {
    static MarketHome made;
    static const bool written = [] {
        made.write();
        return true;
    }();
    REQUIRE(written);
    return made;
}

json must_run(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    const CliRun run = home().offline(words);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return run.json();
}

}  // namespace

TEST_CASE("market show says where the epoch stands and what each class holds") {
    const json market = must_run({"market", "show"});
    CHECK(keys_of(market) == std::set<std::string>{"schema", "height", "epoch", "phase", "phase_left",
                                                   "epoch_left", "sealed_lots", "sealed_bids", "classes"});
    CHECK(market.at("schema") == "assay.market.show/v1");
    CHECK(market.at("epoch") == 2);
    CHECK(market.at("phase") == "sealing");
    CHECK(market.at("phase_left") == 5);
    CHECK(market.at("epoch_left") == 20);
    REQUIRE(market.at("classes").size() == 2);
    const json& slow = market.at("classes").at(0);
    const json& fast = market.at("classes").at(1);
    CHECK(keys_of(fast) == std::set<std::string>{"class", "words", "base_price", "next_base_price",
                                                 "standing", "leased", "left", "wanted", "last"});
    CHECK(slow.at("class") == "f32/6/5/8");
    CHECK(slow.at("words") == "f32, speed 6 (0.032–0.063 work units a block), 16–31 GiB, 128–255 Mbit/s");
    CHECK(slow.at("standing") == 1);
    CHECK(slow.at("leased") == 0);
    CHECK(slow.at("left") == 0);  // it asks more than the base price
    CHECK(slow.at("last").at("lowest").is_null());
    CHECK(fast.at("class") == "f32/10/5/8");
    CHECK(fast.at("base_price") == "16");
    // Both lots that asked for no more were sold: an eighth more.
    CHECK(fast.at("next_base_price") == "18");
    CHECK(fast.at("standing") == 0);
    CHECK(fast.at("leased") == 2);
    CHECK(fast.at("last").at("wanted") == 4);
    CHECK(fast.at("last").at("offered") == 3);
    CHECK(fast.at("last").at("above") == 1);
    CHECK(fast.at("last").at("sold") == 2);
    // The buyer pays what the bid that fits in its stead would have paid.
    CHECK(fast.at("last").at("lowest") == fast.at("last").at("highest"));
    const json one = must_run({"market", "show", "--class", "f32/6/5/8"});
    REQUIRE(one.at("classes").size() == 1);
    CHECK(one.at("classes").at(0) == slow);
}

TEST_CASE("market history has a row for each class and epoch") {
    const json history = must_run({"market", "history"});
    CHECK(history.at("schema") == "assay.market.history/v1");
    REQUIRE(history.at("epochs").size() == 2);
    const json& fast = history.at("epochs").at(1);
    CHECK(keys_of(fast) == std::set<std::string>{"epoch", "class", "base_price", "bids", "wanted", "offered",
                                                 "above", "sold", "instant", "lowest", "highest"});
    CHECK(fast.at("epoch") == 2);
    CHECK(fast.at("bids") == 2);
    const json one = must_run({"market", "history", "--class", "f32/10/5/8", "--epochs", "1"});
    CHECK(one.at("epochs") == json::array({fast}));
    const CliRun rows = home().offline({"market", "history", "-o", "csv"});
    INFO(rows.err);
    REQUIRE(rows.code == 0);
    CHECK(rows.out.starts_with(
        "epoch,class,base_price,bids,wanted,offered,above,sold,instant,lowest,highest\r\n"
        "2,f32/6/5/8,0.000016,0,0,1,1,0,0,,\r\n"));
    const CliRun classes = home().offline({"market", "show", "-o", "csv"});
    CHECK(classes.out.starts_with(
        "class,base_price,next_base_price,standing,leased,left,wanted,lowest,highest\r\n"));
    CHECK(std::count(classes.out.begin(), classes.out.end(), '\n') == 3);
}

TEST_CASE("a class that nobody trades in is not found, and what is no class is refused") {
    for (const char* verb : {"show", "history"}) {
        const CliRun unknown = home().offline({"market", verb, "--class", "i16/6/5/8"});
        CHECK(unknown.code == 3);
        CHECK(unknown.err.find("nobody trades in class i16/6/5/8") != std::string::npos);
        CHECK(unknown.err.find("assay market show") != std::string::npos);
        for (const char* text : {"f32", "f32/6/5", "f32/6/5/8/1", "f33/6/5/8", "f32/63/5/8", "f32/6/21/8",
                                 "f32/6/5/25", "f32/6/5/", "f32/-1/5/8", "f32/ 6/5/8", "f32/6/5/256"}) {
            INFO(text);
            const CliRun refused = home().offline({"market", verb, "--class", text});
            CHECK(refused.code == 2);
            CHECK(refused.err.find("is not a class of lots") != std::string::npos);
        }
    }
    CHECK(home().offline({"market", "history", "--epochs", "0"}).code == 2);
    CHECK(home().offline({"market", "history", "--epochs", "-1"}).code == 2);
}

TEST_CASE("a market in which nobody ever traded is empty") {
    const Cli cli;
    contracts::test::Env env;
    env.next_block();
    write_ledger(env, cli.home());
    const CliRun shown = cli({"market", "show", "--offline", "-o", "json"});
    INFO(shown.err);
    REQUIRE(shown.code == 0);
    CHECK(shown.json().at("phase") == "stopped");
    CHECK(shown.json().at("phase_left").is_null());
    CHECK(shown.json().at("classes").empty());
    CHECK(cli({"market", "show", "--offline"}).out.find("(none)") != std::string::npos);
    CHECK(cli({"market", "history", "--offline", "-o", "json"}).json().at("epochs").empty());
    const CliRun rows = cli({"market", "history", "--offline", "-o", "csv"});
    CHECK(std::count(rows.out.begin(), rows.out.end(), '\n') == 1);
}

TEST_CASE("a ledger node is asked for the market") {
    MarketHome made;
    made.world.env.advance_to(made.world.clock().end);  // the clock goes on to stop: nothing moves meanwhile
    made.write();
    const base::SecretKey& key = made.world.env.person("sequencer").node;
    node::LedgerNodeOptions options{.home = made.cli.home(), .version = "test"};
    options.server.listen = "127.0.0.1:0";
    auto served = node::LedgerNode::start(options, key, ledger::rules_machine());
    INFO((served.ok() ? "" : served.error().what));
    REQUIRE(served.ok());
    for (const char* verb : {"show", "history"}) {
        const CliRun asked = made.cli({"market", verb, "--node", (*served)->address(), "-o", "json"});
        INFO(asked.err);
        REQUIRE(asked.code == 0);
        CHECK(keys_of(asked.json()) == keys_of(must_run({"market", verb})));
    }
    const CliRun shown = made.cli({"market", "show", "--node", (*served)->address()});
    CHECK(shown.out.find("f32, speed 10 (0.512–1.02 work units a block), 16–31 GiB, 128–255 Mbit/s") !=
          std::string::npos);
}

}  // namespace assay::test
