// SPDX-License-Identifier: Apache-2.0
// One miner in two jobs at once, with one worker that has one of them open.
#include <set>

#include "contracts/rules/job/costs.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {

using namespace test_market;

TEST_CASE("a miner of two jobs merges in its worker what is of the job that is open there") {
    MarketOptions options;
    options.buyers = {"bea", "ben"};
    options.rounds = 4;
    options.strategy = program::Strategy::kDilocoHalf;  // updates are a quarter of the state: miners merge
    Market market(options);
    std::map<base::Hash256, std::uint64_t> made;  // root of an update -> seed of its job
    std::map<std::string, std::uint64_t> open;    // miner -> seed of the job in its worker
    int merges = 0;
    for (const std::string& name : options.miners) {
        market.party(name).worker.falsify = [&, name](const frames::Message& request,
                                                      WorkerAnswered& answer) {
            if (const auto* opened = std::get_if<frames::OpenJob>(&request)) open[name] = opened->spec.seed;
            if (const auto* trained = std::get_if<frames::Trained>(&answer.message))
                made[trained->trace.update] = open[name];
            const auto* merge = std::get_if<frames::Merge>(&request);
            if (merge == nullptr) return;
            ++merges;
            for (const auto& entry : merge->accepted) CHECK(made.at(entry.update_root) == open[name]);
        };
    }
    market.start();
    const auto all_ended = [&] {
        const auto jobs = contracts::list_jobs(market.state());
        return jobs.size() == 2 && std::all_of(jobs.begin(), jobs.end(), [](const contracts::Job& job) {
                   return job.phase == contracts::JobPhase::kEnded;
               });
    };
    REQUIRE(market.turn_until(all_ended, 800));
    for (const contracts::Job& job : contracts::list_jobs(market.state()))
        CHECK(job.end_reason == contracts::Reason::kJobComplete);
    CHECK(open.size() == options.miners.size());
    CHECK(merges > 0);
}

TEST_CASE("a miner whose stake holds a slot of one job asks for no second one") {
    MarketOptions options;
    options.buyers = {"bea", "ben"};
    const auto all_ended = [](Market& market) {
        return market.turn_until(
            [&] {
                const auto jobs = contracts::list_jobs(market.state());
                return jobs.size() == 2 &&
                       std::all_of(jobs.begin(), jobs.end(), [](const contracts::Job& job) {
                           return job.phase == contracts::JobPhase::kEnded;
                       });
            },
            800);
    };
    const auto asked = [](Market& market) {
        std::multiset<std::uint32_t> asks;
        for (const contracts::Job& job : contracts::list_jobs(market.state())) {
            asks.insert(job.auction.asks_sealed);
            CHECK(job.auction.short_stake == 0);
        }
        return asks;
    };
    Market rich(options);
    rich.start();
    const contracts::Job job = contracts::list_jobs(rich.state()).front();
    const contracts::Params params = contracts::params_of(rich.state(), job);
    REQUIRE(all_ended(rich));
    CHECK(asked(rich) == std::multiset<std::uint32_t>{2, 2});

    // Enough for a slot and a half, and for the deposit of an ask.
    const base::Amount bond = contracts::slot_bond(params, job.spec, job.spec.market.max_price, job.slot_work,
                                                   contracts::Audited::kAlways)
                                  .value();
    options.miner_stake = bond.times(3, 2, base::Rounding::kUp)->plus(params.ask_deposit);
    Market poor(options);
    poor.start();
    REQUIRE(all_ended(poor));
    CHECK(asked(poor) == std::multiset<std::uint32_t>{0, 2});
}

}  // namespace assay::node
