// SPDX-License-Identifier: Apache-2.0
// What a miner's owner tells it, and tables for programs that calculate.
#include <map>

#include "node/cli/commands/device_asks.hpp"
#include "node/cli/commands/trade_flags.hpp"
#include "node/cli/csv.hpp"
#include "node/processes/device_homes.hpp"
#include "node/roles/price_order.hpp"
#include "node/roles/work_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "tests/node/cli/cli_fixture.hpp"

namespace {

using namespace assay;
using assay::test::Cli;
using assay::test::CliRun;
using node::WorkOrder;

/// No ledger answers there: the homes of these tests have none.
constexpr const char* kNobody = "127.0.0.1:1";

WorkOrder order_in(const Cli& cli) {
    const auto notes = node::make_disk_port(node::Home{cli.home()}.jobs());
    REQUIRE(notes.ok());
    const auto order = node::read_order(**notes, node::WorkRole::kMiner);
    REQUIRE(order.ok());
    return *order;
}

}  // namespace

TEST_CASE("pause, drain and resume are kept in the home, whether its miner runs or not") {
    const Cli cli;
    const CliRun without_key = cli({"miner", "pause"});
    CHECK(without_key.code == 5);
    CHECK(without_key.err.find("no node key") != std::string::npos);
    const std::string passphrase = cli.write("pass", "a passphrase of some length\n").string();
    const CliRun made =
        cli({"key", "new", "--role", "node", "--interactive", "--passphrase-file", passphrase});
    INFO(made.err);
    REQUIRE(made.code == 0);
    CHECK(order_in(cli) == WorkOrder::kWork);
    const std::vector<std::pair<std::string, WorkOrder>> orders = {
        {"pause", WorkOrder::kPause}, {"drain", WorkOrder::kDrain}, {"resume", WorkOrder::kWork}};
    for (const auto& [word, order] : orders) {
        const CliRun told = cli({"miner", word, "--node", kNobody});
        CHECK(told.code == 0);
        CHECK(told.out.find("at its next start") != std::string::npos);
        CHECK(order_in(cli) == order);
    }
    const CliRun told = cli({"miner", "drain", "-o", "json", "--node", kNobody});
    CHECK(told.json().at("schema") == "assay.miner.order/v1");
    CHECK(told.json().at("order") == "drain");
}

TEST_CASE("the ask of a machine on offer is kept in the home until it is taken back") {
    const Cli cli;
    CHECK(cli({"market", "ask", "900u"}).code == 5);  // no node key
    const std::string passphrase = cli.write("pass", "a passphrase of some length\n").string();
    REQUIRE(cli({"key", "new", "--role", "node", "--interactive", "--passphrase-file", passphrase}).code ==
            0);
    const auto ordered = [&] {
        const auto notes = node::make_disk_port(node::Home{cli.home()}.jobs());
        REQUIRE(notes.ok());
        const auto price = node::read_price_order(**notes, node::ask_order_note());
        REQUIRE(price.ok());
        return *price;
    };
    CHECK_FALSE(ordered().has_value());
    CHECK(cli({"market", "ask", "much"}).code == 2);
    CHECK_FALSE(ordered().has_value());
    const CliRun told = cli({"market", "ask", "900u", "-o", "json"});
    CHECK(told.code == 0);
    CHECK(told.json().at("schema") == "assay.market.ask/v1");
    CHECK(ordered() == base::units(900));
    // No ledger says here whether the home has a miner that trades.
    CHECK(cli({"market", "ask", "900u"})
              .out.find("does nothing unless a miner of this home runs with --trade") != std::string::npos);
    CHECK(cli({"market", "ask", "default"}).code == 0);
    CHECK_FALSE(ordered().has_value());
}

TEST_CASE("orders at a home reach the miners of its devices, and one at a device's home reaches that one") {
    const Cli cli;
    const std::string words = "a passphrase of some length";
    const std::string passphrase = cli.write("pass", words + "\n").string();
    REQUIRE(cli({"key", "new", "--role", "node", "--interactive", "--passphrase-file", passphrase}).code ==
            0);
    const node::Home home{cli.home()};
    std::vector<node::Home> homes{home};
    for (const char* device : {"cuda:0", "cuda:1"}) {
        REQUIRE(node::make_device_home(home, device, node::Passphrase{words}).ok());
        homes.push_back(node::device_home(home, device));
    }
    CHECK(homes.back().root == home.root / "devices" / "cuda-1");
    const auto orders = [&] {
        std::vector<WorkOrder> all;
        for (const node::Home& one : homes)
            all.push_back(
                node::read_order(*node::make_disk_port(one.jobs()).value(), node::WorkRole::kMiner).value());
        return all;
    };
    const auto prices = [&] {
        std::vector<std::optional<base::Amount>> all;
        for (const node::Home& one : homes)
            all.push_back(
                node::read_price_order(*node::make_disk_port(one.jobs()).value(), node::ask_order_note())
                    .value());
        return all;
    };
    CHECK(cli({"miner", "drain", "--node", kNobody}).code == 0);
    CHECK(orders() == std::vector(3, WorkOrder::kDrain));
    CHECK(cli({"market", "ask", "900u"}).code == 0);
    CHECK(prices() == std::vector(3, std::optional(base::units(900))));
    const std::string one = homes.back().root.string();
    CHECK(Cli::at({"miner", "resume", "--home", one, "--node", kNobody}).code == 0);
    CHECK(orders() == std::vector{WorkOrder::kDrain, WorkOrder::kDrain, WorkOrder::kWork});
    CHECK(Cli::at({"market", "ask", "700u", "--home", one}).code == 0);
    CHECK(prices().back() == base::units(700));
    CHECK(prices().front() == base::units(900));
    // A device that comes later begins with what was ordered at the home, and keeps its own orders then.
    const auto make_third = [&] {
        REQUIRE(node::make_device_home(home, "cuda:2", node::Passphrase{words}).ok());
    };
    make_third();
    homes.push_back(node::device_home(home, "cuda:2"));
    CHECK(orders().back() == WorkOrder::kDrain);
    CHECK(prices().back() == base::units(900));
    CHECK(Cli::at({"miner", "resume", "--home", homes.back().root.string(), "--node", kNobody}).code == 0);
    make_third();
    CHECK(orders().back() == WorkOrder::kWork);
    CHECK(orders().front() == WorkOrder::kDrain);
}

TEST_CASE("--ask names one price for all devices, or one for each") {
    const std::vector<std::string> devices = {"cpu", "cuda:0", "cuda:1"};
    using Asks = std::map<std::string, base::Amount>;
    const auto asks = [&](const std::string& text) { return node::device_asks(text, devices); };
    const auto of = [](std::uint64_t cpu, std::uint64_t first, std::uint64_t second) {
        const auto amount = [](std::uint64_t units) { return base::Amount::of(units).value(); };
        return Asks{{"cpu", amount(cpu)}, {"cuda:0", amount(first)}, {"cuda:1", amount(second)}};
    };
    CHECK(asks("900u").value() == of(900, 900, 900));
    CHECK(asks("cuda:1=700u,900u").value() == of(900, 900, 700));
    CHECK(asks("cuda:1=700u,cuda:0=800u,cpu=1u").value() == of(1, 800, 700));
    for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
             {"cuda:1=700u", "there is no price for cpu"},
             {"900u,cuda:2=700u", "'cuda:2' is none of the devices"},
             {"900u,800u", "there are two prices for all others"},
             {"900u,cuda:0=1u,cuda:0=1u", "there are two prices for cuda:0"},
             {"900u,cuda:0=", "is not an amount"},
             {"900u,", "is not an amount"},
             {"much", "is not an amount"}}) {
        INFO(text);
        const auto refused = asks(text);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK(refused.error().what.find(why) != std::string::npos);
    }
}

TEST_CASE("a lot promises the memory that a step has on the smallest of its devices") {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    const std::vector<node::ListedCard> cards = {{.device = "cuda:0", .memory = 80 * kGiB},
                                                 {.device = "cuda:1", .memory = 16 * kGiB}};
    const auto least = [&](std::uint64_t host, std::uint64_t card, const std::vector<std::string>& devices) {
        return node::least_step_memory(host * kGiB, card * kGiB, devices, cards);
    };
    CHECK(least(100, 0, {"cuda:0"}) == 75 * kGiB);
    CHECK(least(100, 0, {"cuda:1"}) == 15 * kGiB);
    CHECK(least(100, 0, {"cuda:0", "cuda:1"}) == 15 * kGiB);
    CHECK(least(100, 24, {"cuda:0"}) == 24 * kGiB);
    CHECK(least(100, 24, {"cuda:1"}) == 15 * kGiB);
    CHECK(least(64, 0, {"cuda:0"}) == 64 * kGiB);
    CHECK(least(100, 24, {"cpu"}) == 100 * kGiB);
}

TEST_CASE("limits that are none are refused before a miner starts") {
    const Cli cli;
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"--duty", "0"},
                                               {"--duty", "101"},
                                               {"--duty", "-5"},
                                               {"--duty", "12.5"},
                                               {"--duty", "half"},
                                               {"--power-watts", "0"},
                                               {"--power-watts", "many"},
                                               {"--power-watts", "5"},
                                               {"--power-price", "0.3"},
                                               {"--hours", "25:00-26:00"},
                                               {"--network", "200"},
                                               {"--speed-bits", "3"},
                                               {"--trade", "--speed-bits", "63"},
                                               {"--trade", "--lot-epochs", "0"},
                                               {"--trade", "--lot-profile", "f64"},
                                               {"--trade", "--memory", "much"}}) {
        std::vector<std::string> all = {"miner", "run"};
        all.insert(all.end(), words.begin(), words.end());
        const CliRun run = cli(all);
        CAPTURE(words, run.err);
        CHECK(run.code == 2);
        const bool names_it = run.err.find(words.front()) != std::string::npos ||
                              run.err.find(words.back()) != std::string::npos;
        CHECK(names_it);
        CHECK(run.err.find("\n  fix: ") != std::string::npos);
    }
}

TEST_CASE("csv is asked of the commands that have it, and of no other") {
    const Cli cli;
    const CliRun refused = cli({"version", "-o", "csv"});
    CHECK(refused.code == 2);
    CHECK(refused.err.find("no csv output") != std::string::npos);
    // Without a node to ask, the form is not what it fails for.
    const CliRun asked = cli({"miner", "earnings", "--offline", "-o", "csv"});
    CHECK(asked.code != 0);
    CHECK(asked.err.find("csv") == std::string::npos);
    CHECK(cli({"miner", "earnings", "--by", "week"}).code == 2);
}

TEST_CASE("records of csv are those of RFC 4180") {
    std::ostringstream out;
    node::print_csv_record(out, {"plain", "", "a,b", "say \"no\"", "two\nlines", " space ", "one, \"two\""});
    CHECK(out.str() == "plain,,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\", space ,\"one, \"\"two\"\"\"\r\n");
    CHECK(node::csv_amount(base::units(1'100)) == "0.001100");
    CHECK(node::csv_amount(base::units(12'000'345)) == "12.000345");
}
