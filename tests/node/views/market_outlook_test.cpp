// SPDX-License-Identifier: Apache-2.0
// What stands between a job or a miner and the next clearing, on states that the real rules made.
#include <algorithm>

#include "contracts/rules/market/measure.hpp"
#include "contracts/rules/state/store.hpp"
#include "node/views/market_outlook.hpp"
#include "node/views/market_view.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;

std::optional<std::uint64_t> not_known(const contracts::JobSpec&) { return std::nullopt; }

StepBytes needs(std::uint64_t gib) {
    return [gib](const contracts::JobSpec&) { return std::optional(gib << 30U); };
}

JobOutlook look_at(const MarketWorld& world, const std::string& buyer) {
    return job_outlook(world.env.state(), world.env.height(), world.env.job(world.job_of(buyer)), not_known);
}

MinerOutlook look_at_miner(MarketWorld& world, const std::string& miner) {
    return miner_outlook(world.env.state(), world.env.height(), world.env.person(miner).node_key(),
                         not_known);
}

template <class Outlook>
const Obstacle* find(const Outlook& look, const std::string& token) {
    const auto at = std::ranges::find(look.obstacles, token, &Obstacle::token);
    return at == look.obstacles.end() ? nullptr : &*at;
}

void open_all(MarketWorld& world) {
    world.to_opening();
    for (const auto& [miner, offer] : world.offers)
        world.env.send(world.env.person(miner), world.lot_opening(miner));
    for (const auto& [buyer, wish] : world.wishes)
        world.env.send(world.env.person(buyer), world.bid_opening(buyer));
}

TEST_CASE("a job in an empty market has neither lots nor verifiers nor a bid") {
    MarketWorld world;
    world.first = world.env.post(market_job());  // nobody has enlisted for it
    const JobOutlook look = look_at(world, "buyer");
    CHECK(look.gang == 1);
    CHECK(look.leased == 0);
    REQUIRE(find(look, "no_capacity") != nullptr);
    CHECK(find(look, "no_capacity")->needs == 1);
    CHECK(find(look, "no_capacity")->has == 0);
    REQUIRE(find(look, "no_verifier") != nullptr);
    CHECK(find(look, "no_verifier")->has == 0);
    CHECK(find(look, "no_verifier")->needs == world.env.params().panel_owners_least);
    REQUIRE(find(look, "no_bid") != nullptr);
    CHECK(find(look, "no_bid")->text.find("the clock stands still") != std::string::npos);
    REQUIRE(look.wait);
    CHECK(look.wait->epochs == 0);
}

TEST_CASE("lots that do not do are counted by what keeps them from the job") {
    MarketWorld world;
    contracts::JobSpec spec = market_job(8);
    spec.name = "large";
    spec.market.terms = {.gang = 2, .most = 8, .least_speed = 8, .least_memory = 5};
    const base::Hash256 job = world.post(spec, "m5");
    world.seal_lot("m1", {.price = 20});
    world.seal_lot("m2", {.price = 20, .kind = kSlow});
    world.seal_lot("m3", {.price = 20, .kind = {program::Profile::kF32, 10, 4, 8}});
    world.seal_lot("m4", {.price = 20, .kind = {program::Profile::kI16, 10, 5, 8}});
    const JobOutlook before =
        job_outlook(world.env.state(), world.env.height(), world.env.job(job), not_known);
    REQUIRE(find(before, "no_capacity") != nullptr);
    CHECK(find(before, "no_capacity")->text.find("4 more lots are sealed") != std::string::npos);
    open_all(world);
    const JobOutlook look = job_outlook(world.env.state(), world.env.height(), world.env.job(job), needs(19));
    CHECK(look.lots.fit == 1);
    CHECK(look.lots.too_slow == 1);
    CHECK(look.lots.too_little_memory == 1);
    CHECK(look.lots.other_profile == 1);
    CHECK(look.lots.all() == 4);
    REQUIRE(find(look, "too_few_lots") != nullptr);
    CHECK(find(look, "too_few_lots")->needs == 2);
    CHECK(find(look, "too_few_lots")->has == 1);
    // 16 to 31 GiB may be less than 19.
    REQUIRE(find(look, "memory_does_not_fit") != nullptr);
    CHECK(find(look, "memory_does_not_fit")->needs == 19);
    CHECK(find(look, "memory_does_not_fit")->has == 16);
    CHECK(find(job_outlook(world.env.state(), world.env.height(), world.env.job(job), needs(16)),
               "memory_does_not_fit") == nullptr);
}

TEST_CASE("a gang that no class alone holds is not told that lots do") {
    MarketWorld world;
    contracts::JobSpec spec = market_job(8);
    spec.name = "gang";
    spec.market.terms = {.gang = 2, .most = 2};
    const base::Hash256 job = world.post(spec, "m5");
    const auto look = [&] {
        return job_outlook(world.env.state(), world.env.height(), world.env.job(job), not_known);
    };
    world.seal_lot("m1", {.price = 10});
    world.seal_lot("m2", {.price = 10, .kind = kSlow});
    open_all(world);
    const JobOutlook apart = look();
    CHECK(apart.lots.fit == 2);
    CHECK(find(apart, "too_few_lots") == nullptr);
    REQUIRE(find(apart, "no_class_alone") != nullptr);
    CHECK(find(apart, "no_class_alone")->needs == 2);
    CHECK(find(apart, "no_class_alone")->has == 1);
    CHECK(find(apart, "no_class_alone")->text.find("no class alone has 2 lots: 1 of f32/") == 0);
}

TEST_CASE("a gang of one class is told nothing of other classes") {
    MarketWorld world;
    contracts::JobSpec spec = market_job(8);
    spec.name = "gang";
    spec.market.terms = {.gang = 2, .most = 2};
    const base::Hash256 job = world.post(spec, "m5");
    for (const char* miner : {"m1", "m2"}) world.seal_lot(miner, {.price = 10});
    world.seal_lot("m3", {.price = 10, .kind = kSlow});
    open_all(world);
    const JobOutlook look = job_outlook(world.env.state(), world.env.height(), world.env.job(job), not_known);
    CHECK(look.lots.fit == 3);
    CHECK(find(look, "no_class_alone") == nullptr);
}

TEST_CASE("who only has to wait is told for which block") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 20});
    world.seal_bid("buyer", {.lots = 1, .price = 500});
    const std::uint64_t open_at = world.clock().open_at;
    REQUIRE(find(look_at(world, "buyer"), "bid_sealed") != nullptr);
    CHECK(find(look_at(world, "buyer"), "bid_sealed")->needs == open_at);
    CHECK(find(look_at(world, "buyer"), "bid_sealed")->text.find(std::to_string(open_at)) !=
          std::string::npos);
    REQUIRE(find(look_at_miner(world, "m1"), "ask_sealed") != nullptr);
    CHECK(find(look_at_miner(world, "m1"), "ask_sealed")->needs == open_at);
    world.open_and_clear();
    const JobOutlook leased = look_at(world, "buyer");
    CHECK(leased.leased_next == 1);
    REQUIRE(find(leased, "begins_at") != nullptr);
    CHECK(find(leased, "begins_at")->needs == world.clock().end);
    CHECK(find(leased, "no_capacity") == nullptr);  // its own lot is the only one
    REQUIRE(find(look_at_miner(world, "m1"), "begins_at") != nullptr);
    CHECK(find(look_at_miner(world, "m1"), "begins_at")->needs == world.clock().end);
    world.to_next_epoch();
    CHECK(find(look_at(world, "buyer"), "begins_at") == nullptr);
    CHECK(find(look_at_miner(world, "m1"), "begins_at") == nullptr);
    CHECK(find(look_at(world, "buyer"), "bid_sealed") == nullptr);
}

TEST_CASE("a cap below the base price keeps all lots from a job") {
    MarketWorld world;
    contracts::JobSpec spec = market_job(8);
    spec.name = "poor";
    spec.market.terms = {.gang = 4, .most = 8};
    spec.market.max_price = amount(15);  // the least base price is 16
    const base::Hash256 job = world.post(spec, "m5");
    world.seal_lot("m1", {.price = 10});
    open_all(world);
    const JobOutlook above =
        job_outlook(world.env.state(), world.env.height(), world.env.job(job), not_known);
    CHECK(above.lots.above_cap == 1);
    REQUIRE(find(above, "base_above_cap") != nullptr);
    CHECK(find(above, "base_above_cap")->needs == 16);
    CHECK(find(above, "base_above_cap")->has == 15);
    CHECK(find(above, "escrow_too_small") == nullptr);
}

TEST_CASE("a job with some of its gang is told how many it lacks") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 20});
    world.seal_bid("buyer", {.lots = 1, .price = 500});
    world.open_and_clear();
    world.to_next_epoch();
    CHECK(look_at(world, "buyer").leased == 1);
    CHECK(find(look_at(world, "buyer"), "gang_incomplete") == nullptr);
    world.env.edit<contracts::JobTerms>(
        contracts::job_terms_key(world.first),
        [](contracts::JobTerms& record) { record.spec.market.terms.gang = 3; });
    const JobOutlook look = look_at(world, "buyer");
    REQUIRE(find(look, "gang_incomplete") != nullptr);
    CHECK(find(look, "gang_incomplete")->needs == 3);
    CHECK(find(look, "gang_incomplete")->has == 1);
}

TEST_CASE("a job is told of its lots that cannot hold a slot") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 20});
    world.seal_lot("m2", {.price = 20});
    world.seal_bid("buyer", {.lots = 2, .price = 500});
    world.open_and_clear();
    world.to_next_epoch();
    world.env.edit<contracts::JobTerms>(
        contracts::job_terms_key(world.first),
        [](contracts::JobTerms& record) { record.spec.market.terms.gang = 2; });
    REQUIRE(look_at(world, "buyer").leased == 2);
    CHECK(find(look_at(world, "buyer"), "lots_idle") == nullptr);
    CHECK(find(look_at(world, "buyer"), "gang_incomplete") == nullptr);
    Person& m1 = world.env.person("m1");
    world.env.send(m1, contracts::StakeWithdraw{m1.node_key(), world.free_stake("m1")});
    const JobOutlook look = look_at(world, "buyer");
    REQUIRE(find(look, "lots_idle") != nullptr);
    CHECK(find(look, "lots_idle")->needs == 2);
    CHECK(find(look, "lots_idle")->has == 1);
    CHECK(find(look, "lots_idle")->text.starts_with("1 leased lot cannot hold a slot"));
    REQUIRE(find(look, "gang_incomplete") != nullptr);
    CHECK(find(look, "gang_incomplete")->has == 1);
    CHECK(look.leased == 2);
}

TEST_CASE("a bid is held against the base price and the last sale while others can still open") {
    MarketWorld world;
    for (const char* miner : {"m1", "m2"}) world.seal_lot(miner, {.price = 100, .epochs = 2});
    world.seal_bid("buyer", {.lots = 1, .price = 500});
    world.open_and_clear();
    world.to_next_epoch();
    world.seal_bid("buyer", {.lots = 1, .price = 50});
    world.seal_bid("other", {.lots = 1, .price = 10});
    CHECK(find(look_at(world, "buyer"), "bid_not_opened") == nullptr);
    world.to_opening();
    REQUIRE(find(look_at(world, "buyer"), "bid_not_opened") != nullptr);
    CHECK(find(look_at(world, "buyer"), "bid_not_opened")->needs == world.clock().clear_at);
    for (const char* buyer : {"buyer", "other"})
        world.env.send(world.env.person(buyer), world.bid_opening(buyer));
    REQUIRE(find(look_at(world, "buyer"), "price_below_last") != nullptr);
    CHECK(find(look_at(world, "buyer"), "price_below_last")->needs == 100);
    CHECK(find(look_at(world, "buyer"), "price_below_last")->has == 50);
    REQUIRE(find(look_at(world, "other"), "price_below_base") != nullptr);
    CHECK(find(look_at(world, "other"), "price_below_base")->has == 10);
    // The cleared epoch sold a lot for 100, which the cap of 1,000 pays: no wait.
    const auto wait = look_at(world, "buyer").wait;
    REQUIRE(wait);
    CHECK(wait->epochs == 1);
    CHECK(wait->serving == 1);
    CHECK(wait->median == 0);
}

TEST_CASE("who waits for lots that are left is told its place") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 1});
    for (const char* buyer : {"buyer", "other"})
        world.env.send(
            world.env.person(buyer),
            contracts::LeaseTake{world.job_of(buyer), kFast, buyer == std::string("buyer") ? 1U : 2U, true});
    const JobOutlook look = look_at(world, "other");
    REQUIRE(find(look, "waits") != nullptr);
    CHECK(find(look, "waits")->text.find("place 1 to 2 of 2") != std::string::npos);
    CHECK(find(look, "no_bid") == nullptr);
}

TEST_CASE("a job that holds an auction of its own, and one that is over") {
    Env env;
    const base::Hash256 job = env.post(small_job());
    const JobOutlook look = job_outlook(env.state(), env.height(), env.job(job), not_known);
    REQUIRE(look.obstacles.size() == 1);
    CHECK(look.obstacles.front().token == "own_auction");
}

TEST_CASE("a miner without a lot, one on probation, one that asks too much and one that is measured slower") {
    MarketWorld world;
    CHECK(find(look_at_miner(world, "m1"), "no_ask") != nullptr);
    world.seal_lot("m1", {.price = 2'000});
    world.seal_lot("m2", {.price = 20});
    world.to_opening();
    CHECK(find(look_at_miner(world, "m1"), "ask_not_opened") != nullptr);
    open_all(world);
    const MinerOutlook dear = look_at_miner(world, "m1");
    CHECK(dear.kind == kFast);
    CHECK(dear.ask == amount(2'000));
    CHECK(find(dear, "probation") != nullptr);
    CHECK(find(dear, "price_above_base") != nullptr);
    REQUIRE(find(dear, "no_job_fits") != nullptr);
    CHECK(find(dear, "no_job_fits")->text.find("2 pay less") != std::string::npos);
    CHECK(find(look_at_miner(world, "m2"), "no_job_fits") == nullptr);
    const MinerOutlook small =
        miner_outlook(world.env.state(), world.env.height(), world.env.person("m2").node_key(), needs(19));
    REQUIRE(find(small, "memory_does_not_fit") != nullptr);
    CHECK(find(small, "memory_does_not_fit")->needs == 19);
    CHECK(find(small, "memory_does_not_fit")->has == 16);
    world.env.step([&](contracts::Work& work) {
        contracts::note_speed(work.state, world.env.person("m2").node_key(), program::Profile::kF32, 1, 100);
    });
    const MinerOutlook slow = look_at_miner(world, "m2");
    CHECK(find(slow, "probation") == nullptr);
    REQUIRE(find(slow, "class_too_fast") != nullptr);
    CHECK(find(slow, "class_too_fast")->needs == 10);
    CHECK(find(slow, "class_too_fast")->has == 4);  // 10 thousandths of a work unit a block
}

TEST_CASE("a miner is told what leases its machine") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 20});
    world.seal_bid("buyer", {.lots = 1, .price = 500});
    world.open_and_clear();
    const MinerOutlook look = look_at_miner(world, "m1");
    REQUIRE(look.leases.size() == 1);
    CHECK(look.leases.front().job == world.first);
    CHECK(look.leases.front().price == amount(20));
    CHECK(look.leases.front().epoch == 2);
}

TEST_CASE("a wait is counted from every epoch that is kept") {
    const contracts::ClassEpoch sold{.base_price = amount(16),
                                     .offered = 3,
                                     .above = 1,
                                     .sold = 2,
                                     .lowest = amount(20),
                                     .highest = amount(60)};
    CHECK(would_serve(sold, 2, amount(60)));
    CHECK_FALSE(would_serve(sold, 2, amount(59)));
    CHECK_FALSE(would_serve(sold, 3, amount(900)));
    const contracts::ClassEpoch left{.base_price = amount(16), .offered = 3, .above = 1, .sold = 0};
    CHECK(would_serve(left, 2, amount(16)));
    CHECK_FALSE(would_serve(left, 2, amount(15)));
    const contracts::ClassEpoch none{.base_price = amount(16), .offered = 1, .above = 1};
    contracts::MemoryState state;
    contracts::store(state, contracts::market_params_key(), short_epochs());
    for (const std::uint64_t epoch : {4U, 6U, 7U, 8U, 9U})
        contracts::store(state, contracts::class_epoch_key(kFast, epoch),
                         epoch == 6 || epoch == 8 ? sold : none);
    // From 4: 2; from 6: 0; from 7: 1; from 8: 0; from 9: none that is kept.
    const WaitView wait = wait_for(state, {.classes = {kFast}, .lots = 2, .price = amount(60)});
    CHECK(wait.epochs == 5);
    CHECK(wait.serving == 2);
    CHECK(wait.median == 1);
    CHECK_FALSE(wait.high);
    const WaitView strict = wait_for(state, {.classes = {kFast}, .lots = 2, .price = amount(15)});
    CHECK(strict.serving == 0);
    CHECK_FALSE(strict.median);
    CHECK(strict.text().find("half waited longer than the ledger's history; nine of ten longer than") !=
          std::string::npos);
    CHECK(wait.text().find("half waited at most 1 epoch; nine of ten longer than the ledger's history") !=
          std::string::npos);
    const WaitView at_once = wait_for(state, {.classes = {kFast}, .lots = 1, .price = amount(60)});
    CHECK(at_once.text().find("none") == std::string::npos);
}

}  // namespace
}  // namespace assay::node
