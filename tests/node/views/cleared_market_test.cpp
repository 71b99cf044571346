// SPDX-License-Identifier: Apache-2.0
// Why bids and asks won or lost, on states that the real rules made.
#include "node/views/cleared_market.hpp"
#include "tests/contracts/rules/market_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;
using contracts::Reason;

/// The world at the last height before a clearing, and the market as the clearing will see it.
struct BeforeClearing : MarketWorld {
    using MarketWorld::MarketWorld;
    /// Opens all that was sealed but what is named.
    ClearedMarket market(const std::set<std::string>& silent = {}) {
        to_opening();
        for (const auto& [miner, offer] : offers)
            if (!silent.contains(miner)) env.send(env.person(miner), lot_opening(miner));
        for (const auto& [buyer, wish] : wishes)
            if (!silent.contains(buyer)) env.send(env.person(buyer), bid_opening(buyer));
        offers.clear();
        wishes.clear();
        env.advance_to(clock().clear_at - 1);
        auto found = ClearedMarket::of(env.state(), {env.chain(), clock().clear_at});
        REQUIRE(found.ok());
        REQUIRE(found->has_value());
        return **std::move(found);
    }
    [[nodiscard]] base::PublicKey node(const std::string& name) { return env.person(name).node_key(); }
};

TEST_CASE("a bid that lost is told the least price at which it would have won, and the rules bear it out") {
    for (const bool at_least : {true, false}) {
        BeforeClearing asked;
        BeforeClearing played;
        for (BeforeClearing* world : {&asked, &played}) {
            world->seal_lot("m1", {.price = 20});
            world->seal_lot("m2", {.price = 40});
            world->seal_lot("m3", {.price = 100});
            world->seal_bid("buyer", {.lots = 2, .price = 500});
        }
        asked.seal_bid("other", {.lots = 2, .price = 300});
        const ClearedMarket market = asked.market();
        CHECK(market.epoch() == 2);
        const auto lost = market.why_bid(asked.second);
        REQUIRE(lost);
        CHECK(lost->end == BidEnd::kOutbid);
        CHECK_FALSE(lost->pays);
        REQUIRE(lost->least);
        CHECK(lost->least->units() >= 500);
        CHECK(lost->least_refused == Reason::kNone);
        CHECK(lost->text().find("0.000300 ASY a work unit for 2 lots of f32/10/5/8 lost: " +
                                base::to_text(*lost->least) + " would have won") != std::string::npos);
        const auto won = market.why_bid(asked.first);
        REQUIRE(won);
        CHECK(won->end == BidEnd::kWon);
        CHECK(won->pays == won->least);
        // The same market, with the bid that was quoted, or one unit less: ties and all are the rules' own.
        played.seal_bid("other", {.lots = 2, .price = lost->least->units() - (at_least ? 0 : 1)});
        played.open_and_clear();
        CHECK(played.leases("other").size() == (at_least ? 2 : 0));
        CHECK(played.leases("buyer").size() == (at_least ? 0 : 2));
    }
}

TEST_CASE("a lot that was not sold is told the highest price at which it would have been") {
    BeforeClearing world;
    world.seal_lot("m1", {.price = 20});
    world.seal_lot("m2", {.price = 900});
    world.seal_bid("buyer", {.lots = 1, .price = 500});
    world.seal_bid("other", {.lots = 1, .price = 300});
    const ClearedMarket market = world.market();
    const auto lost = market.why_ask(world.node("m2"));
    REQUIRE(lost);
    CHECK(lost->end == AskEnd::kTooDear);
    REQUIRE(lost->most);
    CHECK(*lost->most == amount(300));
    CHECK(lost->wanted == 2);
    CHECK_FALSE(lost->left);
    const auto sold = market.why_ask(world.node("m1"));
    CHECK(sold->end == AskEnd::kSold);
    CHECK(sold->gets == amount(300));  // "other" would have had it for that
    CHECK_FALSE(market.why_ask(world.node("m3")));
    CHECK(lost->text().find("0.000300 ASY would have been, one base unit more would not") !=
          std::string::npos);
}

TEST_CASE("what no price changes is said with its reason") {
    BeforeClearing world;
    world.seal_lot("m1", {.price = 20});
    world.seal_lot("m2", {.price = 20, .kind = kSlow});
    world.seal_lot("m3", {.price = 10});
    world.seal_bid("buyer", {.lots = 3, .price = 500});
    const ClearedMarket market = world.market({"m3", "other"});
    const auto gang = market.why_bid(world.first);
    CHECK(gang->end == BidEnd::kTooFewLots);
    CHECK(gang->offered == 1);
    CHECK_FALSE(gang->least);
    CHECK(gang->text().find("lost at any price: 1 lot was offered") != std::string::npos);
    CHECK_FALSE(market.why_bid(world.second));
    CHECK(market.why_ask(world.node("m3"))->end == AskEnd::kNotOpened);
    const auto unwanted = market.why_ask(world.node("m2"));
    CHECK(unwanted->end == AskEnd::kNotWanted);
    CHECK_FALSE(unwanted->left);
}

TEST_CASE("a bid for a class in which nobody offers, and one below the base price") {
    BeforeClearing world;
    world.seal_lot("m1", {.price = 1});
    world.seal_bid("buyer", {.lots = 1, .price = 15});
    world.seal_bid("other", {.lots = 1, .price = 500, .kind = kSlow});
    const ClearedMarket market = world.market();
    const auto low = market.why_bid(world.first);
    CHECK(low->end == BidEnd::kBelowBase);
    CHECK(low->base_price == amount(16));
    CHECK(low->least == amount(16));
    CHECK(market.why_bid(world.second)->end == BidEnd::kNoCapacity);
    const auto left = market.why_ask(world.node("m1"));
    CHECK(left->end == AskEnd::kNotWanted);
    CHECK(left->left);
}

TEST_CASE("a bid whose winning price is above the job's cap is told so") {
    BeforeClearing world;
    world.seal_lot("m1", {.price = 1'000});
    world.seal_bid("buyer", {.lots = 1, .price = 1'000});
    world.seal_bid("other", {.lots = 1, .price = 900});
    const auto lost = world.market().why_bid(world.second);
    REQUIRE(lost->least);
    // Whoever wins the tie at the cap: above it nobody may bid.
    if (*lost->least > amount(1'000)) {
        CHECK(lost->least_refused == Reason::kPriceAboveCap);
        CHECK(lost->text().find("price_above_cap") != std::string::npos);
    } else {
        CHECK(lost->least_refused == Reason::kNone);
    }
}

TEST_CASE("who waited for lots that a clearing left is told whether it had them") {
    BeforeClearing world;
    world.seal_lot("m1", {.price = 1});
    for (const char* buyer : {"buyer", "other"})
        world.env.send(world.env.person(buyer), contracts::LeaseTake{world.job_of(buyer), kFast, 1, true});
    const ClearedMarket market = world.market();
    const auto first = market.why_wait(world.first);
    const auto second = market.why_wait(world.second);
    REQUIRE((first && second));
    CHECK(first->served != second->served);
    const WaitWhy& without = first->served ? *second : *first;
    CHECK(without.left == 1);
    CHECK(without.others == 1);
    CHECK(without.text().find("the auction left 1, of which 1 went to others") != std::string::npos);
    CHECK((first->served ? first : second)->others == 0);
    CHECK_FALSE(market.why_bid(world.first));
    const std::string served = first->served ? "buyer" : "other";
    world.to_clearing();
    CHECK(world.leases(served).size() == 1);
    CHECK(world.leases(served == "buyer" ? "other" : "buyer").empty());
}

TEST_CASE("a seal that stays closed is told apart from a bid that lost") {
    BeforeClearing world;
    world.seal_lot("m1", {.price = 20});
    world.seal_bid("buyer", {.lots = 1, .price = 500});
    const auto silent = world.market({"buyer"}).why_bid(world.first);
    CHECK(silent->end == BidEnd::kNotOpened);
    CHECK(silent->text().find("stayed sealed") != std::string::npos);
}

TEST_CASE("a height that clears nothing has no market") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 20});
    const auto found = ClearedMarket::of(world.env.state(), {world.env.chain(), world.env.height() + 1});
    REQUIRE(found.ok());
    CHECK_FALSE(found->has_value());
}

}  // namespace
}  // namespace assay::node
