// SPDX-License-Identifier: Apache-2.0
// What `job why` and `miner why` quote, on random markets, against the rules themselves: a bid at the quoted
// price wins, and one unit less loses; a lot at the quoted price is sold, and at one unit more is not.
// ASSAY_MARKETS says how many markets; `make market-proof` takes ten thousand.
#include <cstdlib>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/store.hpp"
#include "node/views/cleared_market.hpp"
#include "tests/contracts/rules/market_reference.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;
using contracts::EventKind;
using contracts::Reason;

constexpr std::size_t kJobs = 6;
constexpr std::size_t kNodes = 9;

std::uint64_t markets_asked() {
    const char* given = std::getenv("ASSAY_MARKETS");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 1'000;
}

/// A chain between opening and clearing, in which nothing is opened yet.
class RandomMarkets {
public:
    explicit RandomMarkets(std::uint64_t seed) : numbers_(seed) {
        world_.seal_lot("m1", {.price = 1});  // starts the clock
        world_.to_opening();
        world_.env.advance_to(world_.clock().clear_at - 1);
        for (std::size_t i = 0; i < kJobs; ++i) jobs_.push_back(bytes_of("job " + std::to_string(i)));
        for (std::size_t i = 0; i < kNodes; ++i)
            nodes_.push_back(base::PublicKey{bytes_of("node " + std::to_string(i)).bytes});
    }
    [[nodiscard]] contracts::BlockContext block() const {
        return {world_.env.chain(), world_.env.height() + 1};
    }
    [[nodiscard]] const std::vector<base::Hash256>& jobs() const { return jobs_; }
    [[nodiscard]] const std::vector<base::PublicKey>& nodes() const { return nodes_; }

    /// Random bids, asks, counts of tenants, escrows and measured speeds.
    contracts::Overlay next() {
        contracts::Overlay state(world_.env.state());
        contracts::MarketClock clock = contracts::read_market_clock(state);
        state.erase(contracts::lot_ask_key(world_.env.person("m1").node_key()));
        highest_ = numbers_.between(0, 3) == 0 ? 20 : 200;  // few prices: many ties
        clock.bids = static_cast<std::uint32_t>(numbers_.between(0, kJobs));
        clock.lots = static_cast<std::uint32_t>(numbers_.between(0, kNodes));
        for (std::size_t i = 0; i < clock.bids; ++i) put_bid(state, jobs_[i]);
        for (std::size_t i = 0; i < clock.lots; ++i) put_ask(state, nodes_[i]);
        contracts::store(state, contracts::market_clock_key(), clock);
        return state;
    }

private:
    base::Amount price() { return amount(numbers_.between(0, highest_)); }
    contracts::LotClass kind() { return numbers_.between(0, 2) == 0 ? kSlow : kFast; }

    void put_bid(contracts::State& state, const base::Hash256& job) {
        contracts::JobTerms terms = *contracts::read_job_terms(state, world_.first);
        contracts::JobProgress progress = *contracts::read_job_progress(state, world_.first);
        terms.spec.market.max_price = amount(200);
        const auto cost = contracts::round_cost(contracts::params_of(state, terms), terms.spec,
                                                amount(numbers_.between(0, 300)), terms.slot_work);
        if (numbers_.between(0, 1) == 0) progress.escrow = cost.value();
        contracts::store(state, contracts::job_terms_key(job), terms);
        contracts::store(state, contracts::job_progress_key(job), progress);
        // A job that nobody could judge is set aside.
        const contracts::Job first = *contracts::read_job(state, world_.first);
        for (const contracts::EnlistedVerifier& judge : first.verifiers)
            contracts::store(state, contracts::panel_key(job, judge.node), judge);
        contracts::LotBid bid;
        bid.tenant = base::PublicKey{bytes_of("tenant " + std::to_string(numbers_.between(0, 3))).bytes};
        bid.opened = numbers_.between(0, 9) > 0;
        if (bid.opened) {
            bid.kind = kind();
            bid.lots = static_cast<std::uint32_t>(numbers_.between(1, 4));
            bid.price = price();
            bid.salt = bytes_of("salt " + std::to_string(numbers_.word()));
        }
        contracts::store(state, contracts::lot_bid_key(job), bid);
        contracts::store(
            state, contracts::tenant_key(bid.tenant, bid.kind),
            contracts::TenantCount{numbers_.between(0, 3) * 1'001, numbers_.between(0, 3) * 999});
    }
    void put_ask(contracts::State& state, const base::PublicKey& node) {
        const contracts::PublicKey miner = world_.env.person("m1").node_key();
        contracts::store(state, contracts::miner_key(node), *contracts::read_miner(state, miner));
        contracts::LotAsk ask;
        ask.owner = contracts::read_miner(state, miner)->owner;
        ask.opened = numbers_.between(0, 9) > 0;
        if (ask.opened) {
            ask.kind = kind();
            ask.price = price();
            ask.salt = bytes_of("salt " + std::to_string(numbers_.word()));
            ask.epochs = static_cast<std::uint32_t>(numbers_.between(1, 2));
        }
        if (numbers_.between(0, 7) == 0)  // seven bits: enough for the slow class alone
            contracts::store(state, contracts::machine_key(node, program::Profile::kF32),
                             contracts::MachineSpeed{.speeds = {100}});
        contracts::store(state, contracts::lot_ask_key(node), ask);
    }

    MarketWorld world_;
    MarketNumbers numbers_;
    std::uint64_t highest_ = 0;
    std::vector<base::Hash256> jobs_;
    std::vector<base::PublicKey> nodes_;
};

/// How many lots the rules lease, with one record another.
template <class Record, class Is>
std::size_t leased_with(const contracts::StateView& before, const contracts::BlockContext& block,
                        const base::Bytes& key, std::uint64_t price, Is is) {
    contracts::Overlay state(before);
    auto record = *contracts::load<Record>(state, key);
    record.price = amount(price);
    contracts::store(state, key, record);
    std::size_t lots = 0;
    for (const contracts::Event& event : contracts::begin_block(state, block))
        lots += event.kind == EventKind::kLeased && is(event) ? 1U : 0U;
    return lots;
}

struct Tried {
    std::size_t won = 0, lost = 0, refused = 0, hopeless = 0, sold = 0, unsold = 0, unwanted = 0, aside = 0;
};

void try_bid(const contracts::StateView& before, const RandomMarkets& markets, const ClearedMarket& market,
             const base::Hash256& job, Tried& tried) {
    const auto why = market.why_bid(job);
    if (!why || why->end == BidEnd::kNotOpened) return;
    if (why->end == BidEnd::kSetAside) return void(++tried.aside);
    const auto wins_at = [&](std::uint64_t price) {
        return leased_with<contracts::LotBid>(before, markets.block(), contracts::lot_bid_key(job), price,
                                              [&](const auto& event) { return event.job == job; }) ==
               why->lots;
    };
    REQUIRE(wins_at(why->price.units()) == why->pays.has_value());
    if (!why->least) {
        ++tried.hopeless;
        REQUIRE_FALSE(wins_at(200));
        return;
    }
    const std::uint64_t least = why->least->units();
    if (why->least_refused != Reason::kNone) {
        ++tried.refused;
        REQUIRE((why->least_refused == Reason::kPriceAboveCap ? least > 200 : !wins_at(least)));
    } else {
        ++(why->pays ? tried.won : tried.lost);
        REQUIRE(wins_at(least));
    }
    if (why->pays) REQUIRE(*why->pays == *why->least);
    if (least > 0) REQUIRE_FALSE(wins_at(least - 1));
}

void try_ask(const contracts::StateView& before, const RandomMarkets& markets, const ClearedMarket& market,
             const base::PublicKey& node, Tried& tried) {
    const auto why = market.why_ask(node);
    if (!why || why->end == AskEnd::kNotOpened) return;
    if (why->end == AskEnd::kSetAside) return void(++tried.aside);
    const auto is_sold_at = [&](std::uint64_t price) {
        return leased_with<contracts::LotAsk>(before, markets.block(), contracts::lot_ask_key(node), price,
                                              [&](const auto& event) { return event.node == node; }) == 1;
    };
    REQUIRE(is_sold_at(why->price.units()) == why->gets.has_value());
    if (!why->most) {
        ++tried.unwanted;
        REQUIRE_FALSE(is_sold_at(0));
        return;
    }
    ++(why->gets ? tried.sold : tried.unsold);
    REQUIRE(is_sold_at(why->most->units()));
    REQUIRE_FALSE(is_sold_at(why->most->units() + 1));
}

TEST_CASE("on random markets the rules bear out every price that is quoted") {
    RandomMarkets markets(20'261'126);
    Tried tried;
    const std::uint64_t count = markets_asked();
    for (std::uint64_t number = 0; number < count; ++number) {
        INFO("market " << number);
        const contracts::Overlay before = markets.next();
        const auto market = ClearedMarket::of(before, markets.block());
        REQUIRE(market.ok());
        REQUIRE(market->has_value());
        for (const base::Hash256& job : markets.jobs()) try_bid(before, markets, **market, job, tried);
        for (const base::PublicKey& node : markets.nodes()) try_ask(before, markets, **market, node, tried);
    }
    // Everything was met.
    for (const std::size_t times : {tried.won, tried.lost, tried.refused, tried.hopeless, tried.sold,
                                    tried.unsold, tried.unwanted, tried.aside})
        CHECK(times > count / 20);
    WARN(count << " markets: bids won " << tried.won << ", lost " << tried.lost << ", refused at the price "
               << tried.refused << ", lost at any " << tried.hopeless << "; lots sold " << tried.sold
               << ", too dear " << tried.unsold << ", not wanted " << tried.unwanted << "; set aside "
               << tried.aside);
}

}  // namespace
}  // namespace assay::node
