// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_why.hpp"

#include "contracts/rules/apply.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"
#include "node/views/cleared_market.hpp"

namespace assay::node {

namespace {

constexpr const char* kWhyChain = "assay-bench";
constexpr std::uint64_t kClearAt = 100;
constexpr contracts::LotClass kKind{program::Profile::kF32, 10, 5, 8};

contracts::JobTerms cheap_terms(const contracts::ClassBid& bid, const contracts::Params& params) {
    contracts::JobTerms terms;
    terms.spec.slots = 1;
    terms.spec.train.inner_steps = terms.spec.security.segment_steps = 1;
    terms.spec.market.max_price = base::units(base::kAmountMax / 1'000'000);
    terms.spec.market.terms = {.gang = 1, .most = bid.lots};
    terms.params = contracts::params_hash(params);
    terms.slot_work = 1;
    return terms;
}

void put_opened_bid(contracts::State& state, const contracts::ClassBid& bid,
                    const contracts::Params& params) {
    contracts::JobProgress progress;
    progress.phase = contracts::JobPhase::kWaiting;
    progress.escrow = base::units(base::kAmountMax / 2);
    contracts::store(state, contracts::job_terms_key(bid.job), cheap_terms(bid, params));
    contracts::store(state, contracts::job_progress_key(bid.job), progress);
    contracts::LotBid record;
    record.tenant = base::PublicKey{bid.job.bytes};
    record.opened = true;
    record.kind = kKind;
    record.lots = bid.lots;
    record.price = bid.price;
    contracts::store(state, contracts::lot_bid_key(bid.job), record);
    contracts::store(state, contracts::tenant_key(record.tenant, kKind),
                     contracts::TenantCount{2 * bid.owed, 0});  // the clearing halves it
}

void put_opened_ask(contracts::State& state, const contracts::ClassAsk& ask) {
    contracts::LotAsk record;
    record.owner = ask.node;
    record.opened = true;
    record.kind = kKind;
    record.price = ask.price;
    record.epochs = 1;
    contracts::store(state, contracts::lot_ask_key(ask.node), record);
}

template <class Why>
bool explain(const contracts::StateView& before, const Why& why) {
    const auto market = ClearedMarket::of(before, clearing_block());
    return market.ok() && market->has_value() && why(**market).has_value();
}

}  // namespace

contracts::BlockContext clearing_block() { return {kWhyChain, kClearAt}; }

contracts::MemoryState state_before_clearing(const contracts::ClassMarket& market) {
    contracts::GenesisConfig config;
    config.chain_id = kWhyChain;
    const auto key_of = [](const char* name) {
        return base::SecretKey::from_seed(base::hash(name, {}).view()).public_key();
    };
    config.validators = {{key_of("assay/bench/owner"), key_of("assay/bench/node")}};
    contracts::MemoryState state;
    const auto made = contracts::genesis(state, config);
    ASSAY_CHECK(made.ok());
    for (const contracts::ClassBid& bid : market.bids) put_opened_bid(state, bid, config.params);
    for (const contracts::ClassAsk& ask : market.asks) put_opened_ask(state, ask);
    contracts::store(state, contracts::class_book_key(kKind), contracts::ClassBook{market.base_price, 0});
    contracts::MarketClock clock;
    clock.phase = contracts::MarketPhase::kOpening;
    clock.clear_at = kClearAt;
    clock.end = 2 * kClearAt;
    clock.bids = static_cast<std::uint32_t>(market.bids.size());
    clock.lots = static_cast<std::uint32_t>(market.asks.size());
    contracts::store(state, contracts::market_clock_key(), clock);
    state.put(contracts::deadline_key({kClearAt, contracts::DueKind::kMarket, {}}), {});
    return state;
}

bool explain_bid(const contracts::StateView& before, const contracts::ClassMarket& market, std::size_t bid) {
    return explain(before, [&](const ClearedMarket& all) { return all.why_bid(market.bids[bid].job); });
}

bool explain_ask(const contracts::StateView& before, const contracts::ClassMarket& market, std::size_t ask) {
    return explain(before, [&](const ClearedMarket& all) { return all.why_ask(market.asks[ask].node); });
}

}  // namespace assay::node
