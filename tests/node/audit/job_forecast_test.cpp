// SPDX-License-Identifier: Apache-2.0
// What is foretold of a job, from what a ledger says of one before it, against what the rules then pay.
#include "node/audit/job_forecast.hpp"

#include "contracts/program/kept_bytes.hpp"
#include "node/audit/job_plan.hpp"
#include "node/audit/job_spend.hpp"
#include "node/audit/step_memory.hpp"
#include "tests/contracts/rules/market_world.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;

/// A job that was played to its end, and another one of the same buyer behind it.
struct TwoJobs {
    TwoJobs() {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        first = play(1);
    }
    base::Hash256 play(std::uint64_t seed) {
        contracts::JobSpec spec = small_job();
        spec.seed = seed;
        const base::Hash256 id = env.post(spec);
        env.hold_auction(id, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
        play_job(env, id);
        return id;
    }
    [[nodiscard]] contracts::Job job(const base::Hash256& id) const {
        return contracts::read_job(env.whole(), id).value();
    }
    Env env;
    base::Hash256 first;
};

}  // namespace

TEST_CASE("a ledger's history has its prices, its verified speeds and its rounds") {
    const TwoJobs played;
    const contracts::Job job = played.job(played.first);
    const MarketHistory history = market_history(played.env.whole(), job.spec);
    REQUIRE(history.prices.size() == 1);
    CHECK(history.prices[0] == job.auction.clearing_price);
    std::vector<double> speeds;
    for (const contracts::RosterEntry& entry : job.roster)
        if (entry.speed() > 0) speeds.push_back(static_cast<double>(entry.speed()) / 1000);
    CHECK(history.speeds == speeds);
    CHECK_FALSE(speeds.empty());
    CHECK(history.overheads.size() == job.spec.rounds);
    CHECK(history.slots == std::uint64_t{job.spec.rounds} * job.spec.slots);
    CHECK(history.newcomer_share() > 0);
    // Of another profile there is none: its work units are other work.
    contracts::JobSpec other = job.spec;
    other.profile =
        job.spec.profile == program::Profile::kF32 ? program::Profile::kI16 : program::Profile::kF32;
    const MarketHistory nothing = market_history(played.env.whole(), other);
    CHECK(nothing.prices.empty());
    CHECK(nothing.speeds.empty());
    CHECK(nothing.newcomer_share() == 1.0);
}

TEST_CASE("prices of a job that leases are those of the lots that do for it") {
    MarketWorld world;
    world.seal_lot("m1", {.price = 20});
    world.seal_lot("m2", {.price = 40});
    world.seal_lot("m3", {.price = 70, .kind = kSlow});
    world.seal_bid("buyer", {.lots = 2, .price = 500});
    world.seal_bid("other", {.lots = 1, .price = 300, .kind = kSlow});
    world.open_and_clear();
    contracts::JobSpec spec = market_job();
    const auto prices_of = [&] {
        std::vector<std::uint64_t> prices;
        for (const base::Amount price : market_history(world.env.whole(), spec).prices)
            prices.push_back(price.units());
        return prices;
    };
    CHECK(prices_of() == std::vector<std::uint64_t>{70, 70, 40, 40});
    spec.market.terms.least_speed = kFast.speed;
    CHECK(prices_of() == std::vector<std::uint64_t>{40, 40});
    spec.market.terms = {};
    CHECK(prices_of().empty());  // no auction of a job has ended
}

TEST_CASE("what is foretold of a job's price is what the rules then pay") {
    TwoJobs played;
    contracts::JobSpec spec = small_job();
    spec.seed = 2;
    const auto params = contracts::read_current_params(played.env.state());
    const JobPlan plan = plan_job(spec, params).value();
    const JobForecaster forecaster(
        spec, params, plan.slot_work,
        {.history = market_history(played.env.whole(), spec), .pilot = {}, .own_speed = {}});
    CHECK(forecaster.speeds_from() == SpeedsFrom::kLedger);
    const JobPrediction prediction = forecaster.prediction();
    REQUIRE(prediction.rounds.size() == spec.rounds);
    const RoundPrediction& whole = prediction.rounds.back();
    const contracts::Job job = played.job(played.play(2));
    REQUIRE(job.rounds_done == spec.rounds);
    const auto spent = static_cast<double>(job.spent.units());
    INFO(whole.spend.low << " " << whole.spend.median << " " << whole.spend.high << " spent " << spent);
    CHECK(whole.spend.holds(spent));
    CHECK(whole.spend.high <= static_cast<double>(plan.spend_max.units()));
    // Here whole phases pass within one block, which no ledger's do: its rounds take the least heights.
    REQUIRE(whole.heights.has_value());
    CHECK(whole.heights->low >= static_cast<double>(params.ask_commit_window + params.ask_reveal_window +
                                                    program::kLeastRoundHeights * spec.rounds));
    // More rounds cost and take more.
    for (std::size_t i = 1; i < prediction.rounds.size(); ++i) {
        CHECK(prediction.rounds[i].spend.median > prediction.rounds[i - 1].spend.median);
        CHECK(prediction.rounds[i].heights->median > prediction.rounds[i - 1].heights->median);
    }
}

TEST_CASE("options differ in slots, keep the limits of a job and need a speed for a deadline") {
    contracts::JobSpec spec = small_job();
    const contracts::Params params;
    const JobPlan plan = plan_job(spec, params).value();
    const JobForecaster nobody(spec, params, plan.slot_work, {});
    CHECK(nobody.speeds_from() == SpeedsFrom::kNobody);
    CHECK_FALSE(nobody.heights(1, 1).has_value());
    CHECK(nobody.speed_classes().empty());
    const auto refused = nobody.options({.deadline = 1000});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().what.find("no speed is known") != std::string::npos);

    const JobForecaster measured(spec, params, plan.slot_work,
                                 {.history = {}, .pilot = {}, .own_speed = 5.0});
    CHECK(measured.speeds_from() == SpeedsFrom::kThisMachine);
    const auto options = measured.options({.budget = 1e12, .deadline = 1e6}).value();
    REQUIRE(options.size() >= 9);
    int chosen = 0;
    for (const PlanOption& option : options) {
        chosen += option.chosen ? 1 : 0;
        CHECK_FALSE(option.reason.empty());
        if (option.rounds == 0) continue;
        CHECK(option.tokens <= 4.0 * static_cast<double>(spec.data.train_tokens));
    }
    CHECK(chosen == 1);
}

TEST_CASE("memory of a slot is what a worker plans, and names the class of machines that have it") {
    constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
    CHECK(memory_class_of(1) == 1);
    CHECK(memory_class_of(kGibibyte) == 1);
    CHECK(memory_class_of(kGibibyte + 1) == 2);
    CHECK(memory_class_of(3 * kGibibyte) == 3);
    CHECK(memory_class_of(80 * kGibibyte) == 8);
    const contracts::JobSpec spec = small_job();
    const auto memory = step_memory(spec);
    REQUIRE_FALSE(memory.empty());
    CHECK(memory[0].device == "cpu");
    for (const DeviceMemory& each : memory) {
        CHECK(each.least >= 3 * sizeof(float) * plan_job(spec, {}).value().parameters);
        CHECK(each.most >= each.least);
        CHECK(each.memory_class == 1);
    }
}

}  // namespace assay::node
