// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/auction.hpp"

#include <algorithm>
#include <random>

#include "tests/contracts/rules/env.hpp"
#include "tests/support/properties.hpp"

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

/// Asks of up to `most` miners below `prices`, some of them by miners that cannot cover a bond.
std::vector<Offer> some_offers(std::size_t least, std::size_t most, std::uint64_t prices) {
    std::vector<Offer> offers(*tests::between(least, most));
    for (std::size_t i = 0; i < offers.size(); ++i)
        offers[i] = {numbered_key(i), amount(*tests::between<std::uint64_t>(0, prices - 1)),
                     *tests::between(0, 7) != 0};
    return offers;
}

}  // namespace

TEST_CASE("no unilateral misreport improves a one-lot miner's utility") {
    tests::check_property(300, [] {
        const Hash256 job = bytes_of("job " + std::to_string(*tests::any_word()));
        const auto cap = *tests::between<std::uint64_t>(1, 20);
        const auto slots = *tests::between<std::uint32_t>(1, 4);
        const std::vector<Offer> offers = some_offers(1, 7, 24);
        for (std::size_t i = 0; i < offers.size(); ++i) {
            const std::uint64_t cost = offers[i].price.units();
            const std::int64_t truthful = utility(job, cap, slots, offers, i, cost);
            RC_ASSERT(truthful >= 0);
            for (std::uint64_t report = 0; report < 26; ++report) {
                auto misreported = offers;
                misreported[i].price = amount(report);
                RC_ASSERT(utility(job, cap, slots, misreported, i, cost) <= truthful);
            }
        }
    });
}

TEST_CASE("no winner is paid less than it asked or more than the cap") {
    tests::check_property(300, [] {
        std::vector<Offer> offers = some_offers(0, 9, 100);
        for (Offer& offer : offers) offer.covers_bond = true;
        const auto result = clear_auction(bytes_of("job"), amount(60), 3, offers);
        RC_ASSERT(result.outcome.clearing_price <= amount(60));
        RC_ASSERT(result.winners.size() <= 3U);
        for (const std::size_t winner : result.winners)
            RC_ASSERT(offers[winner].price <= result.outcome.clearing_price);
        const auto feasible =
            std::count_if(offers.begin(), offers.end(), [](const Offer& o) { return o.price <= amount(60); });
        RC_ASSERT(result.winners.size() == std::min<std::size_t>(3, static_cast<std::size_t>(feasible)));
    });
}

TEST_CASE("the outcome does not depend on the order of the asks") {
    tests::check_property(100, [] {
        std::vector<Offer> offers = some_offers(1, 6, 5);  // prices meet, and the tie-break decides
        const Hash256 job = bytes_of("job " + std::to_string(*tests::any_word()));
        const auto winners_of = [&] {
            std::vector<PublicKey> winners;
            for (const std::size_t i : clear_auction(job, amount(9), 2, offers).winners)
                winners.push_back(offers[i].miner);
            return winners;
        };
        const std::vector<PublicKey> winners = winners_of();
        std::mt19937_64 random(*tests::any_word());
        std::shuffle(offers.begin(), offers.end(), random);
        RC_ASSERT(winners_of() == winners);
    });
}

}  // namespace assay::contracts::test
