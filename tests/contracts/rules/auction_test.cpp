// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/auction.hpp"

#include <algorithm>
#include <random>

#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

PublicKey numbered_key(std::size_t number) {
    PublicKey key;
    key.bytes = bytes_of("miner " + std::to_string(number)).bytes;
    return key;
}

/// What a one-lot miner with true cost `cost` gains: price less cost when it wins.
std::int64_t utility(const Hash256& job, std::uint64_t cap, std::uint32_t slots,
                     const std::vector<Offer>& offers, std::size_t miner, std::uint64_t cost) {
    const AuctionResult result = clear_auction(job, amount(cap), slots, offers);
    const auto& winners = result.winners;
    if (std::find(winners.begin(), winners.end(), miner) == winners.end()) return 0;
    return static_cast<std::int64_t>(result.outcome.clearing_price.units()) - static_cast<std::int64_t>(cost);
}

}  // namespace

TEST_CASE("no unilateral misreport improves a one-lot miner's utility") {
    std::mt19937_64 random(20261121);
    for (int instance = 0; instance < 300; ++instance) {
        CAPTURE(instance);
        const Hash256 job = bytes_of("job " + std::to_string(instance));
        const std::uint64_t cap = 1 + random() % 20;
        const auto slots = static_cast<std::uint32_t>(1 + random() % 4);
        std::vector<Offer> offers(1 + random() % 7);
        for (std::size_t i = 0; i < offers.size(); ++i)
            offers[i] = {numbered_key(i), amount(random() % 24), random() % 8 != 0};
        for (std::size_t i = 0; i < offers.size(); ++i) {
            const std::uint64_t cost = offers[i].price.units();
            const std::int64_t truthful = utility(job, cap, slots, offers, i, cost);
            REQUIRE(truthful >= 0);
            for (std::uint64_t report = 0; report < 26; ++report) {
                auto misreported = offers;
                misreported[i].price = amount(report);
                REQUIRE(utility(job, cap, slots, misreported, i, cost) <= truthful);
            }
        }
    }
}

TEST_CASE("no winner is paid less than it asked or more than the cap") {
    std::mt19937_64 random(7);
    for (int instance = 0; instance < 300; ++instance) {
        std::vector<Offer> offers(random() % 10);
        for (std::size_t i = 0; i < offers.size(); ++i)
            offers[i] = {numbered_key(i), amount(random() % 100), true};
        const auto result = clear_auction(bytes_of("job"), amount(60), 3, offers);
        REQUIRE(result.outcome.clearing_price <= amount(60));
        REQUIRE(result.winners.size() <= 3);
        for (const std::size_t winner : result.winners)
            REQUIRE(offers[winner].price <= result.outcome.clearing_price);
        const auto feasible =
            std::count_if(offers.begin(), offers.end(), [](const Offer& o) { return o.price <= amount(60); });
        REQUIRE(result.winners.size() == std::min<std::size_t>(3, static_cast<std::size_t>(feasible)));
    }
}

TEST_CASE("the outcome does not depend on the order of the asks") {
    std::vector<Offer> offers;
    for (std::size_t i = 0; i < 6; ++i) offers.push_back({numbered_key(i), amount(5), true});
    const auto winner_of = [&] {
        return offers[clear_auction(bytes_of("job"), amount(9), 1, offers).winners.at(0)].miner;
    };
    const PublicKey winner = winner_of();
    std::mt19937_64 random(3);
    for (int i = 0; i < 20; ++i) {
        std::shuffle(offers.begin(), offers.end(), random);
        CHECK(winner_of() == winner);
    }
}

}  // namespace assay::contracts::test
