// SPDX-License-Identifier: Apache-2.0
// Miners whose owners tell them to pause or to drain, with real roles: nothing is asked for, nothing that was
// begun is left, and a process that drains ends when nothing needs it.
#include "contracts/rules/claim/tables.hpp"
#include "node/roles/work_order.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node::test_market {

namespace {

bool has_asked(Market& market, const std::string& miner) {
    const auto job = market.job();
    return job && contracts::read_ask(market.state(), job->id, market.party(miner).node.public_key());
}

void tell(Market& market, const std::string& miner, WorkOrder order) {
    REQUIRE(write_order(market.party(miner).notes, WorkRole::kMiner, order).ok());
}

MarketOptions three_miners() {
    MarketOptions options;
    options.miners = {"mia", "moe", "may"};
    options.rounds = 1;
    options.audit_window = 4;
    options.claim_window = 12;
    return options;
}

}  // namespace

TEST_CASE("a miner that pauses asks for nothing, and asks again once told to work") {
    Market market(three_miners());
    tell(market, "may", WorkOrder::kPause);
    market.start();
    REQUIRE(market.turn_until([&] { return has_asked(market, "mia") && has_asked(market, "moe"); }));
    CHECK_FALSE(has_asked(market, "may"));
    tell(market, "may", WorkOrder::kWork);
    REQUIRE(market.job()->phase == contracts::JobPhase::kAskCommit);
    market.turn();
    market.turn();
    CHECK(has_asked(market, "may"));
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_nobody_ended(market);
}

TEST_CASE("a miner that pauses takes no place that others left") {
    MarketOptions options;
    options.miners = {"mia", "moe", "sid"};
    options.asks = {{"sid", 0}};
    options.rounds = 3;
    Market market(options);
    tell(market, "moe", WorkOrder::kPause);
    market.start();
    // Sid wins a place and is gone; Mia holds the other slot, and nobody joins.
    REQUIRE(market.turn_until([&] {
        const auto job = market.job();
        const auto ask =
            job ? contracts::read_ask(market.state(), job->id, market.party("sid").node.public_key())
                : std::optional<contracts::Ask>{};
        return ask && ask->revealed;
    }));
    market.party("sid").ended = true;
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    const auto moe = market.party("moe").node.public_key();
    const auto roster = market.job()->roster;
    CHECK(std::none_of(roster.begin(), roster.end(), [&](const auto& entry) { return entry.node == moe; }));
}

TEST_CASE("a miner that drains opens its ask, does its work, waits for its window, and ends well") {
    MarketOptions options = three_miners();
    options.asks = {{"may", 900}};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return has_asked(market, "mia") && has_asked(market, "moe"); }));
    for (const std::string miner : {"mia", "moe"}) tell(market, miner, WorkOrder::kDrain);
    const auto mia = market.party("mia").node.public_key();
    const auto has_claim = [&] {
        bool open = false;
        contracts::for_each_claim_of(market.state(), market.job()->id, mia, contracts::ClaimKind::kSlot,
                                     [&](const contracts::ClaimId&) { return !(open = true); });
        return open;
    };
    bool claimed = false;
    REQUIRE(market.turn_until([&] {
        claimed = claimed || has_claim();
        if (!market.ended() && market.job()->phase == contracts::JobPhase::kClosing) {
            INFO("its window is open");
            CHECK((!has_claim() || !market.party("mia").ended));
        }
        return market.party("mia").ended && market.party("moe").ended;
    }));
    INFO(market.party("mia").log.text());
    CHECK(claimed);
    CHECK_FALSE(has_claim());
    CHECK_FALSE(market.party("mia").error.has_value());
    CHECK(market.line_of(0, 0).reason == contracts::Reason::kPaid);
    CHECK(market.line_of(0, 1).reason == contracts::Reason::kPaid);
    CHECK(market.party("mia").log.lines_with("draining: waits for its ask") > 0);
    CHECK(market.party("mia").log.lines_with("drained") > 0);
    CHECK(contracts::read_miner(market.state(), mia)->forfeited.is_zero());
}

TEST_CASE("a miner that has nothing drains at once, also where no block is made") {
    Market market(three_miners());
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    tell(market, "may", WorkOrder::kDrain);
    market.clock().now += 1'000'000'000;
    market.party("may").role->step(TimerFired{});
    CHECK(market.party("may").ended);
    CHECK_FALSE(market.party("may").error.has_value());
    CHECK_FALSE(market.party("mia").ended);
}

TEST_CASE("an order that cannot be read counts as a pause, and the log says so once") {
    Market market(three_miners());
    market.party("may").notes.files[order_note(WorkRole::kMiner)] = {9};
    market.start();
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    CHECK_FALSE(has_asked(market, "may"));
    CHECK_FALSE(market.party("may").ended);
    CHECK(market.party("may").log.lines_with("no order of a miner") == 1);
}

TEST_CASE("one note is one order, and other bytes are none") {
    for (const WorkOrder order : {WorkOrder::kWork, WorkOrder::kPause, WorkOrder::kDrain}) {
        for (const WorkRole role : {WorkRole::kMiner, WorkRole::kVerifier}) {
            MemoryDisk notes;
            REQUIRE(write_order(notes, role, order).ok());
            CHECK(read_order(notes, role).value() == order);
            // A home may have had both: an order to one is none to the other.
            const WorkRole other = role == WorkRole::kMiner ? WorkRole::kVerifier : WorkRole::kMiner;
            CHECK(read_order(notes, other).value() == WorkOrder::kWork);
        }
    }
    MemoryDisk empty;
    CHECK(read_order(empty, WorkRole::kMiner).value() == WorkOrder::kWork);
    // Every content of up to two bytes: three of them are orders.
    std::size_t orders = 0;
    for (int first = -1; first < 256; ++first) {
        for (int second = -1; second < (first < 0 ? 0 : 256); ++second) {
            base::Bytes content;
            for (const int byte : {first, second})
                if (byte >= 0) content.push_back(static_cast<std::uint8_t>(byte));
            MemoryDisk notes;
            notes.files[order_note(WorkRole::kMiner)] = content;
            const auto read = read_order(notes, WorkRole::kMiner);
            if (read.ok()) ++orders;
            if (!read.ok()) CHECK_FALSE(read.error().fix.empty());
        }
    }
    CHECK(orders == 3);
}

}  // namespace assay::node::test_market
