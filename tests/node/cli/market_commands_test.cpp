// SPDX-License-Identifier: Apache-2.0
// What the commands of the market say, from the files of a home and from a ledger node.
#include "node/cli/commands/plan_leases.hpp"
#include "node/runtime/ledger_node.hpp"
#include "tests/node/cli/market_home.hpp"
#include "tests/node/cli/tiny_job.hpp"

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

TEST_CASE("job why says at which price a bid would have won, and what stands in the way now") {
    const std::string lost = home().world.second.hex();
    const json why = must_run({"job", "why", lost});
    CHECK(why.at("schema") == "assay.job.why/v1");
    CHECK(keys_of(why) == std::set<std::string>{"schema", "job", "name", "phase", "gang", "most", "leased",
                                                "leased_next", "lots", "obstacles", "wait", "bids", "waits"});
    CHECK(why.at("job") == lost);
    CHECK(why.at("leased") == 0);
    REQUIRE(why.at("bids").size() == 1);
    const json& bid = why.at("bids").at(0);
    CHECK(keys_of(bid) == std::set<std::string>{"epoch", "cleared_at", "foreseen", "job", "end", "reason",
                                                "class", "lots", "price", "base_price", "offered", "pays",
                                                "least_winning_price", "least_refused", "text"});
    CHECK(bid.at("epoch") == 2);
    CHECK(bid.at("end") == "outbid");
    CHECK(bid.at("price") == "300");
    CHECK(bid.at("pays").is_null());
    // At 500 the other job's bid stands against it: one of them wins the tie.
    const auto least = std::stoull(bid.at("least_winning_price").get<std::string>());
    CHECK((least == 500 || least == 501));
    CHECK(why.at("waits").empty());
    std::set<std::string> tokens;
    for (const json& obstacle : why.at("obstacles")) {
        CHECK(keys_of(obstacle) == std::set<std::string>{"token", "text", "needs", "has", "unit"});
        tokens.insert(obstacle.at("token").get<std::string>());
    }
    CHECK(tokens.contains("no_bid"));
    CHECK(tokens.contains("enlistment_open"));
    const CliRun text = home().offline({"job", "why", lost});
    REQUIRE(text.code == 0);
    CHECK(text.out.find("epoch 2: the bid of 0.000300 ASY a work unit for 2 lots of f32/10/5/8 lost: 0.000" +
                        std::to_string(least) + " ASY would have won, one base unit less would have lost") !=
          std::string::npos);
    const json won = must_run({"job", "why", home().world.first.hex(), "--epoch", "2"});
    CHECK(won.at("bids").at(0).at("end") == "won");
    CHECK(won.at("leased") == 2);
    const json now = must_run({"job", "why", lost, "--no-clearings"});
    CHECK(now.at("bids").is_null());
    CHECK(now.at("obstacles") == why.at("obstacles"));
    CHECK(home().offline({"job", "why", lost, "--epoch", "9"}).code == 3);
    CHECK(home().offline({"job", "why", lost, "--epoch", "0"}).code == 2);
    CHECK(home().offline({"job", "why", lost, "--epoch", "2", "--no-clearings"}).code == 2);
    CHECK(home().offline({"job", "why", "nothing"}).code == 3);
}

TEST_CASE("miner why says at which price a lot would have been sold") {
    const auto key_of = [&](const char* name) {
        static MarketHome people;
        return people.world.env.person(name).node_key().hex();
    };
    const json dear = must_run({"miner", "why", key_of("m3")});
    CHECK(dear.at("lines").empty());
    const json& market = dear.at("market");
    CHECK(keys_of(market) ==
          std::set<std::string>{"node", "class", "ask", "epochs", "leases", "obstacles", "asks"});
    REQUIRE(market.at("asks").size() == 1);
    const json& ask = market.at("asks").at(0);
    CHECK(keys_of(ask) == std::set<std::string>{"epoch", "cleared_at", "foreseen", "node", "end", "reason",
                                                "class", "price", "base_price", "wanted", "gets",
                                                "most_sold_price", "left", "text"});
    CHECK(ask.at("end") == "too_dear");
    CHECK(ask.at("price") == "100");
    // The two bids are for two lots each: it is sold only where it is among the two cheapest.
    CHECK(ask.at("most_sold_price") == "40");
    const json sold = must_run({"miner", "why", "--key", key_of("m1")});
    CHECK(sold.at("market").at("asks").at(0).at("end") == "sold");
    REQUIRE(sold.at("market").at("leases").size() == 1);
    CHECK(sold.at("market").at("leases").at(0).at("job") == home().world.first.hex());
    const json unwanted = must_run({"miner", "why", key_of("m4")});
    CHECK(unwanted.at("market").at("asks").at(0).at("end") == "not_wanted");
    CHECK(unwanted.at("market").at("class") == "f32/6/5/8");
    CHECK(unwanted.at("market").at("ask") == "50");
    const CliRun text = home().offline({"miner", "why", key_of("m3")});
    CHECK(text.out.find("the lot of f32/10/5/8 at 0.000100 ASY a work unit was not sold: 0.000040 ASY would "
                        "have been, one base unit more would not") != std::string::npos);
    CHECK(home().offline({"miner", "why", "ffffffff"}).code == 3);
}

TEST_CASE("while bids and lots are opened, why says what the clearing would come to") {
    MarketHome made;
    contracts::test::MarketWorld& world = made.world;
    world.seal_lot("m1", {.price = 20});
    world.seal_bid("buyer", {.lots = 1, .price = 400});
    world.seal_bid("other", {.lots = 1, .price = 100});
    world.to_opening();
    world.env.send(world.env.person("m1"), world.lot_opening("m1"));
    world.env.send(world.env.person("other"), world.bid_opening("other"));
    world.env.next_block();
    made.write();
    const auto last_bid = [&](const base::Hash256& job) {
        const CliRun run = made.offline({"job", "why", job.hex(), "-o", "json"});
        INFO(run.err);
        REQUIRE(run.code == 0);
        REQUIRE(run.json().at("bids").size() == 2);
        CHECK(run.json().at("bids").at(0).at("foreseen") == false);
        return run.json().at("bids").at(1);
    };
    // Nobody has opened against it, and the other's seal is closed.
    const json ahead = last_bid(world.second);
    CHECK(ahead.at("foreseen") == true);
    CHECK(ahead.at("epoch") == 3);
    CHECK(ahead.at("cleared_at") == world.clock().clear_at);
    CHECK(ahead.at("end") == "won");
    CHECK(ahead.at("text").get<std::string>().find("if nothing more is sent") != std::string::npos);
    CHECK(last_bid(world.first).at("end") == "not_opened");
    // The clearing comes to what was foreseen.
    world.to_clearing();
    REQUIRE(world.leases("other").size() == 1);
    CHECK(std::to_string(world.leases("other").front().price.units()) == ahead.at("pays"));
}

TEST_CASE("a number of epochs below one is refused with a range of whole numbers") {
    MarketHome made;
    made.write();
    const std::vector<std::vector<std::string>> asked = {
        {"market", "history", "--epochs", "0"}, {"job", "why", made.world.first.hex(), "--epoch", "0"}};
    for (const auto& words : asked) {
        const CliRun run = made.offline(words);
        INFO(run.err);
        CHECK(run.code == 2);
        CHECK(run.err.find("not in range 1 to 9223372036854775807") != std::string::npos);
    }
    CHECK(made.offline({"market", "history", "--epochs", "1"}).code == 0);
}

/// Two machines of at least eight bits of speed.
constexpr const char* kLeases = "machines_least = 2\nmachines_most = 2\nleast_speed = 8\n";

TEST_CASE("plan names the classes of lots that do for a job, what they cost and the wait for a gang") {
    MarketHome made;
    made.write();
    pack_data(made.cli);
    const auto job = made.cli.write("job.toml", job_text("5", 2, kLeases)).string();
    const json alone = made.cli({"plan", job, "-o", "json"}).json();
    CHECK(alone.at("leases").at("gang") == 2);
    CHECK(alone.at("leases").at("classes").empty());
    CHECK(alone.at("leases").at("wait").is_null());
    CHECK(alone.at("leases").at("largest_class").is_null());
    node::LedgerNodeOptions options{.home = made.cli.home(), .version = "test"};
    options.server.listen = "127.0.0.1:0";
    options.accepts_far_clock = true;  // the chain's times are not of today
    auto served =
        node::LedgerNode::start(options, made.world.env.person("sequencer").node, ledger::rules_machine());
    REQUIRE(served.ok());
    const CliRun run = made.cli({"plan", job, "--node", (*served)->address(), "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json leases = run.json().at("leases");
    CHECK(keys_of(leases) == std::set<std::string>{"gang", "most", "classes", "largest_class", "wait"});
    // The slow class has too few bits of speed.
    REQUIRE(leases.at("classes").size() == 1);
    const json& fast = leases.at("classes").at(0);
    CHECK(keys_of(fast) == std::set<std::string>{"class", "words", "base_price", "next_base_price",
                                                 "standing", "leased", "left", "wanted", "last", "fits",
                                                 "clearings", "prices", "above_cap"});
    CHECK(fast.at("class") == "f32/10/5/8");
    CHECK(fast.at("clearings") == 1);
    CHECK(std::to_string(fast.at("prices").at("median").get<int>()) == fast.at("last").at("lowest"));
    CHECK_FALSE(fast.at("fits").empty());
    CHECK(fast.at("above_cap") == false);
    // The lot that was not sold asked more than the base price, and is left to nobody.
    CHECK(leases.at("largest_class") == 0);
    CHECK(leases.at("wait").at("serving") == 1);
    CHECK(leases.at("wait").at("median") == 0);
    CHECK(run.json().at("prediction").at("ledger_prices") == 2);
    const CliRun words = made.cli({"plan", job, "--node", (*served)->address()});
    CHECK(words.out.find("leases 2 to 2 in the market") != std::string::npos);
    CHECK(words.out.find("no class alone has 2 lots: none stands or is left, at a base price that it pays") !=
          std::string::npos);
    // What a class costs and holds has rows of its own.
    CHECK(words.out.find("a processor; base price") == std::string::npos);
    CHECK(words.out.find("  lots: 0 stand, 2 leased, 0 left\n") != std::string::npos);
    CHECK(words.out.find("f32, speed 10 (0.512–1.02 work units a block)") != std::string::npos);
}

TEST_CASE("plan says when no class alone has a job's gang, and is silent when one has") {
    using contracts::test::kFast;
    using contracts::test::kSlow;
    contracts::JobSpec spec = contracts::test::market_job(8);
    spec.market.terms = {.gang = 2, .most = 2};
    const auto plan_with = [&](const std::vector<contracts::LotClass>& lots, const auto& cap) {
        contracts::test::MarketWorld world;
        spec.market.max_price = cap;
        for (std::size_t i = 0; i < lots.size(); ++i)
            world.seal_lot("m" + std::to_string(i + 1), {.price = 10, .kind = lots[i]});
        world.to_opening();
        for (const auto& [miner, offer] : world.offers)
            world.env.send(world.env.person(miner), world.lot_opening(miner));
        return *node::lease_plan(spec, &world.env.state(), world.env.height());
    };
    const auto now = [](const node::LeasePlan& plan) {
        for (const auto& [name, text] : node::lease_fields(plan))
            if (name == "now") return text;
        return std::string();
    };
    const auto apart = plan_with({kFast, kSlow}, base::units(1'000));
    CHECK(apart.classes.size() == 2);
    CHECK(node::largest_class(apart.payable) == 1);
    CHECK(now(apart).find("no class alone has 2 lots: 1 of f32/") == 0);
    CHECK(now(plan_with({kFast, kSlow, kFast}, base::units(1'000))).empty());
    // The least base price is 16.
    CHECK(node::largest_class(plan_with({kFast, kFast}, base::units(15)).payable) == 0);
}

TEST_CASE("a ledger node is asked for the market") {
    MarketHome made;
    made.world.env.advance_to(made.world.clock().end);  // the clock goes on to stop: nothing moves meanwhile
    made.write();
    const base::SecretKey& key = made.world.env.person("sequencer").node;
    node::LedgerNodeOptions options{.home = made.cli.home(), .version = "test"};
    options.server.listen = "127.0.0.1:0";
    options.accepts_far_clock = true;  // the chain's times are not of today
    auto served = node::LedgerNode::start(options, key, ledger::rules_machine());
    INFO((served.ok() ? "" : served.error().what));
    REQUIRE(served.ok());
    for (const char* verb : {"show", "history"}) {
        const CliRun asked = made.cli({"market", verb, "--node", (*served)->address(), "-o", "json"});
        INFO(asked.err);
        REQUIRE(asked.code == 0);
        CHECK(keys_of(asked.json()) == keys_of(must_run({"market", verb})));
    }
    // The node's blocks are executed again here; where the genesis is not at hand, that is said and left out.
    const std::string job = made.world.second.hex();
    const CliRun why = made.cli({"job", "why", job, "--node", (*served)->address(), "-o", "json"});
    INFO(why.err);
    REQUIRE(why.code == 0);
    CHECK(why.json().at("bids") == must_run({"job", "why", job}).at("bids"));
    const Cli elsewhere;
    const CliRun without = elsewhere({"job", "why", job, "--node", (*served)->address(), "-o", "json"});
    REQUIRE(without.code == 0);
    CHECK(without.json().at("bids").is_null());
    CHECK(without.err.find("pass --genesis FILE once") != std::string::npos);
    CHECK(elsewhere({"job", "why", job, "--node", (*served)->address(), "--epoch", "2"}).code == 3);
    const std::string genesis = (made.cli.home() / "ledger/genesis.bin").string();
    const CliRun with =
        elsewhere({"job", "why", job, "--node", (*served)->address(), "-o", "json", "--genesis", genesis});
    REQUIRE(with.code == 0);
    CHECK(with.json().at("bids") == why.json().at("bids"));
    // Blocks are held against the genesis, whoever gave them.
    const Cli misled;
    contracts::test::Env other(contracts::test::short_windows(), "another-chain");
    other.next_block();
    write_ledger(other, misled.home());
    const CliRun refused = misled({"job", "why", job, "--node", (*served)->address()});
    CHECK(refused.code == 7);
    CHECK(refused.err.find("block 1") != std::string::npos);
    const CliRun shown = made.cli({"market", "show", "--node", (*served)->address()});
    CHECK(shown.out.find("f32, speed 10 (0.512–1.02 work units a block), 16–31 GiB, 128–255 Mbit/s") !=
          std::string::npos);
}

}  // namespace assay::test
