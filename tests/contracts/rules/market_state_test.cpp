// SPDX-License-Identifier: Apache-2.0
// What the state keeps of the market between jobs: prices of the last epochs, bounds, a whole that can be
// checked, written and read in every phase, and how it came about.
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::contracts::test {

TEST_CASE("market: base prices follow the lots that are sold, and only the last epochs are kept") {
    MarketWorld w;
    for (const char* name : {"m1", "m2"}) w.seal_lot(name, {1, kFast, 20});
    std::uint64_t base = w.params().least_base_price.units();
    for (std::uint64_t epoch = 2; epoch < 8; ++epoch) {
        w.seal_bid("buyer", {2, 500});
        w.open_and_clear();
        const ClassEpoch cleared = *read_class_epoch(w.env.state(), kFast, epoch);
        CHECK(cleared.sold == 2);
        CHECK(cleared.base_price.units() >= base);
        CHECK(cleared.base_price.units() <= base + base / 8 + 1);
        base = cleared.base_price.units();
        w.to_next_epoch();
    }
    CHECK(base > w.params().least_base_price.units());
    CHECK(list_class_epochs(w.env.state(), kFast).size() == w.params().history_epochs);
    CHECK(list_class_epochs(w.env.state(), kFast).front().first == 5);
}

TEST_CASE("market: a class in which nobody offers is forgotten after as many epochs as are kept") {
    MarketWorld w;
    w.seal_lot("m1", {1, kSlow});
    w.seal_lot("m2", {1, kFast, 20});
    for (int epoch = 0; epoch < 4; ++epoch) {
        w.seal_bid("buyer", {1, 500});
        w.open_and_clear();
        CHECK(read_class_book(w.env.state(), kSlow).has_value() == (epoch < 3));
        w.to_next_epoch();
    }
    CHECK(list_class_epochs(w.env.state(), kSlow).empty());
}

TEST_CASE("market: a state that is written and read in any phase goes on to the same end") {
    MarketWorld w;
    w.seal_lot("m1", {100, kFast, 2});
    w.seal_lot("m2", {1});
    w.seal_bid("buyer", {1, 500});
    w.to_opening();
    for (const char* name : {"m1", "m2"}) w.env.send(w.env.person(name), w.lot_opening(name));
    w.env.send(w.env.person("buyer"), w.bid_opening("buyer"));
    std::vector<Env> others;
    std::set<MarketPhase> phases;
    const std::uint64_t last = w.env.height() + 60;
    while (w.env.height() < last) {
        phases.insert(w.clock().phase);
        MemoryState copy;
        for (const auto& [key, value] : w.env.state().scan({})) copy.put(key, value);
        others.emplace_back(std::move(copy), w.env.height());
        w.env.next_block();
        if (w.env.height() % 3 == 0) others.clear();  // a few of every phase are enough
        for (Env& other : others) {
            other.next_block();
            REQUIRE(other.state().scan({}) == w.env.state().scan({}));
        }
    }
    CHECK(phases.size() == 4);
}

TEST_CASE("market: it holds no more lots and bids than it can clear") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.seal_bid("buyer", {1, 500});
    MemoryState state;
    for (const auto& [key, value] : w.env.state().scan({})) state.put(key, value);
    MarketClock clock = w.clock();
    clock.lots = kMaxLots;
    clock.bids = kMaxBids;
    store(state, market_clock_key(), clock);
    const auto lot = w.env.sign(w.env.person("m2"), LotSeal{bytes_of("seal")});
    const auto bid = w.env.sign(w.env.person("other"), BidSeal{w.second, bytes_of("seal")});
    CHECK(apply_transaction(state, w.env.block(), lot).reason == Reason::kMarketFull);
    CHECK(apply_transaction(state, w.env.block(), bid).reason == Reason::kMarketFull);
    reasons_met().insert(Reason::kMarketFull);
    --clock.lots;
    --clock.bids;
    store(state, market_clock_key(), clock);
    CHECK(apply_transaction(state, w.env.block(), lot).applied);
    CHECK(apply_transaction(state, w.env.block(), bid).applied);
}

TEST_CASE("market: the check of a state finds a market that is not whole") {
    MarketWorld w;
    w.seal_lot("m1", {1});
    w.seal_lot("m2", {1});
    w.seal_bid("buyer", {1, 500});
    w.open_and_clear();
    REQUIRE(check_invariants(w.env.state()).ok());
    const Lease lease = w.leases("buyer").front();
    const auto broken_by = [&](const auto& change) {
        Overlay changes(w.env.state());
        change(changes);
        const bool whole = check_invariants(changes).ok();
        const bool changed = check_invariants(w.env.state(), changes).ok();
        CHECK(whole == changed);
        return !whole && !changed;
    };
    CHECK_FALSE(broken_by([](Overlay&) {}));
    CHECK(broken_by([&](Overlay& s) { s.erase(lease_key(lease.job, lease.node, lease.epoch)); }));
    CHECK(broken_by([&](Overlay& s) { s.erase(lot_key(lease.epoch, lease.node)); }));
    CHECK(broken_by([&](Overlay& s) {  // two jobs lease one machine
        Lease second = lease;
        second.job = w.second;
        store(s, lease_key(second.job, second.node, second.epoch), second);
    }));
    CHECK(broken_by([&](Overlay& s) {
        Lease other = lease;
        other.owner = w.env.person("buyer").owner_key();
        store(s, lease_key(lease.job, lease.node, lease.epoch), other);
    }));
    const PublicKey& left = w.env.person(w.leases_node("buyer", "m1") ? "m2" : "m1").node_key();
    CHECK(broken_by([&](Overlay& s) { s.erase(lot_left_key(2, kFast, amount(1), left)); }));
    CHECK(broken_by([&](Overlay& s) { s.put(lot_left_key(2, kFast, amount(7), left), {}); }));
    CHECK(broken_by([&](Overlay& s) {
        MarketClock clock = w.clock();
        ++clock.lots;
        store(s, market_clock_key(), clock);
    }));
    CHECK(broken_by([&](Overlay& s) {
        MarketClock clock = w.clock();
        clock.epoch += 2;
        store(s, market_clock_key(), clock);
    }));
    CHECK(broken_by([&](Overlay& s) { s.erase(deadline_key({w.clock().due(), DueKind::kMarket, {}})); }));
    CHECK(broken_by([&](Overlay& s) {
        s.put(deadline_key({w.clock().due() + 1, DueKind::kMarket, {}}), {});
    }));
    CHECK(broken_by([&](Overlay& s) {
        MarketParams params = w.params();
        params.epoch = 2;
        store(s, market_params_key(), params);
    }));
    // Whatever is gone, both checks say the same.
    int missed = 0;
    for (const auto& [key, value] : w.env.state().scan({})) {
        if (key.front() < static_cast<std::uint8_t>(Table::kMarketClock)) continue;
        CAPTURE(int{key.front()});
        const Bytes gone = key;
        missed += broken_by([&](Overlay& s) { s.erase(gone); }) ? 0 : 1;
    }
    CHECK(missed <= 3);  // what is owed to tenants, and the book of a class
}

TEST_CASE("market: a state of schema 11 gets the default parameters and nothing else") {
    Env env;
    MemoryState older;
    for (const auto& [key, value] : env.state().scan({})) older.put(key, value);
    older.erase(market_params_key());
    Meta meta = read_meta(older);
    meta.schema = 11;
    store(older, meta_key(), meta);
    REQUIRE(check_schema(older).ok());
    migrate(older);
    CHECK(read_market_params(older) == MarketParams{});
    older.put(market_params_key(), base::encode(short_epochs()));
    CHECK(older.scan({}) == env.state().scan({}));
}

TEST_CASE("market: a genesis names its parameters, or has the defaults and the bytes of before") {
    Env env;
    GenesisConfig config = env.configuration();
    CHECK(base::decode<GenesisConfig>(base::encode(config))->market == short_epochs());
    const std::size_t with = base::encode(config).size();
    config.market = {};
    const Bytes bytes = base::encode(config);
    CHECK(bytes.size() + base::encode(MarketParams{}).size() == with);
    CHECK(base::decode<GenesisConfig>(bytes)->market == MarketParams{});
    Bytes spelled_out = bytes;
    for (const std::uint8_t byte : base::encode(MarketParams{})) spelled_out.push_back(byte);
    CHECK_FALSE(base::decode<GenesisConfig>(spelled_out).ok());
    MemoryState state;
    config.market.seal_window = config.market.epoch;
    CHECK(genesis(state, config).error() == "market parameter out of range: epoch not above both windows");
    for (const MarketParamRange& range : market_param_ranges()) {
        MarketParams params;
        CHECK(range.get(params) >= range.minimum);
        CHECK(range.get(params) <= range.maximum);
        range.set(params, range.maximum + 1);
        CHECK(check_market_params(params) == std::string(range.name));
    }
}

}  // namespace assay::contracts::test
