// SPDX-License-Identifier: Apache-2.0
// The object that scripts read: its keys and types are a promise.
#include "node/devnet/report.hpp"

#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "node/views/json.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using nlohmann::json;
using Keys = std::set<std::string>;

Keys keys_of(const json& object) {
    Keys keys;
    for (const auto& [key, value] : object.items()) keys.insert(key);
    return keys;
}

DemoReport example() {
    DemoReport report;
    report.home = "/tmp/demo";
    report.rounds = 5;
    report.loss = {.train_first = std::bit_cast<std::uint32_t>(6.5F),
                   .train_last = std::bit_cast<std::uint32_t>(4.25F),
                   .held_out_first = std::bit_cast<std::uint32_t>(6.25F),
                   .held_out_last = std::bit_cast<std::uint32_t>(4.5F)};
    const auto paid = base::Amount::of(9'007'199'254'740'993).value();  // no double holds it
    report.miners = {{.name = "miner-1", .behaviour = "honest", .paid = paid, .drawn = 3, .reason = "paid"},
                     {.name = "miner-3",
                      .behaviour = "lazy",
                      .forfeited = base::units(5),
                      .caught_round = 1,
                      .reason = "mismatch",
                      .finding = "h.0 differs"}};
    report.verifiers = {{.name = "verifier-1", .paid = base::units(7), .recomputed = 12}};
    report.buyer = {.escrowed = base::units(10), .spent = base::units(4), .refunded = base::units(6)};
    report.disputes.emplace_back().id = "job/0";
    report.audit = {.ledger = true, .payouts = true, .replayed = 2, .flipped_byte_found = true};
    return report;
}

}  // namespace

TEST_CASE("the demo's JSON has the promised keys, no fewer, and its additions are known") {
    const json object =
        json::parse(json_text("assay.devnet.demo/v1", json_of(example()), JsonLayout::kIndented));
    REQUIRE(object["schema"] == "assay.devnet.demo/v1");
    const Keys promised{"schema",    "home",   "job",        "profile", "parameters",
                        "tokens",    "rounds", "model_root", "loss",    "miners",
                        "verifiers", "buyer",  "audit",      "seconds", "verification"};
    Keys all = promised;
    all.insert({"sample", "disputes", "clearing_price"});
    REQUIRE(keys_of(object) == all);
    REQUIRE(keys_of(object["loss"]) == Keys{"train_first", "train_last", "held_out_first", "held_out_last"});
    REQUIRE(keys_of(object["buyer"]) == Keys{"escrowed", "spent", "refunded"});
    REQUIRE(keys_of(object["audit"]) ==
            Keys{"ledger", "payouts", "disputes", "replayed", "supply_delta", "flipped_byte_found"});
    // What people ask of a dispute; more stands beside it.
    for (const char* key : {"id", "round", "slot", "segment", "step", "operator", "tile", "term", "moves",
                            "witness_bytes", "referee_us", "challenger", "loser", "claimed", "computed"})
        REQUIRE(object["disputes"][0].contains(key));
    REQUIRE(keys_of(object["verification"]) == Keys{"recomputed_share", "seconds_share"});
    const Keys miner{"id", "node", "behaviour", "paid", "forfeited", "drawn", "caught_round", "reason"};
    REQUIRE(keys_of(object["miners"][0]) == miner);
    Keys caught = miner;
    caught.insert("finding");
    REQUIRE(keys_of(object["miners"][1]) == caught);
    REQUIRE(keys_of(object["verifiers"][0]) == Keys{"id", "node", "paid", "recomputed", "forfeited"});
}

TEST_CASE("amounts are strings of base units, losses numbers, and a miner that was not caught says null") {
    const json object =
        json::parse(json_text("assay.devnet.demo/v1", json_of(example()), JsonLayout::kIndented));
    REQUIRE(object["miners"][0]["paid"] == "9007199254740993");
    REQUIRE(object["miners"][0]["forfeited"] == "0");
    REQUIRE(object["miners"][0]["caught_round"].is_null());
    REQUIRE(object["miners"][1]["caught_round"] == 1);
    REQUIRE(object["miners"][1]["behaviour"] == "lazy");
    REQUIRE(object["verifiers"][0]["paid"] == "7");
    REQUIRE(object["verifiers"][0]["recomputed"] == 12);
    REQUIRE((object["buyer"]["escrowed"] == "10" && object["buyer"]["spent"] == "4"));
    REQUIRE(object["loss"]["train_first"] == 6.5);
    REQUIRE(object["loss"]["held_out_last"] == 4.5);
    REQUIRE((object["audit"]["ledger"] == true && object["audit"]["supply_delta"] == 0));
    REQUIRE(object["model_root"].get<std::string>().size() == 64);
    REQUIRE(object["job"].get<std::string>().size() == 64);
}

}  // namespace assay::node
