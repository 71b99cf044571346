// SPDX-License-Identifier: Apache-2.0
// What a block is foreseen to tell is what it tells, and foreseeing it changes nothing.
#include "contracts/rules/foresee.hpp"

#include "contracts/base/codec.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/market_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

std::vector<base::Bytes> encoded(const Events& events) {
    std::vector<base::Bytes> all;
    for (const Event& event : events) all.push_back(base::encode(event));
    return all;
}

/// The block at `height`, foreseen on `before` and then made on it.
void check_foreseen(MemoryState& before, const BlockContext& block) {
    const auto content = before.all();
    const auto foreseen = encoded(foresee_block(before, block));
    CHECK(before.all() == content);
    CHECK(encoded(begin_block(before, block)) == foreseen);
    CHECK(foreseen.size() > 3);
    CHECK(before.all() != content);
}

/// One clearing that leases, leaves, burns and tells who lost, with all before it.
struct BeforeClearing : MarketWorld {
    BeforeClearing() {
        seal_lot("m1", {100});
        seal_lot("m2", {200});
        seal_lot("m3", {16});
        seal_bid("buyer", {1, 500});
        seal_bid("other", {2, 150});
        to_opening();
        for (const char* miner : {"m1", "m2"}) env.send(env.person(miner), lot_opening(miner));
        for (const char* buyer : {"buyer", "other"}) env.send(env.person(buyer), bid_opening(buyer));
        offers.clear();
        wishes.clear();
        env.advance_to(clock().clear_at - 1);
    }
    [[nodiscard]] MemoryState state() {
        MemoryState copy;
        for (const auto& [key, value] : env.state().scan({})) copy.put(key, value);
        return copy;
    }
    [[nodiscard]] BlockContext next() { return {env.chain(), clock().clear_at}; }
};

}  // namespace

TEST_CASE("a block that clears an epoch is foreseen as it will be, on a state that stays as it is") {
    BeforeClearing world;
    MemoryState state = world.state();
    check_foreseen(state, world.next());
}

TEST_CASE("a block that first brings a state of an older schema up to date is foreseen too") {
    BeforeClearing world;
    MemoryState older = world.state();
    Meta meta = read_meta(older);
    meta.schema = kSchemaVersion - 1;
    store(older, meta_key(), meta);
    check_foreseen(older, world.next());
    CHECK(schema_of(older) == kSchemaVersion);
}

}  // namespace assay::contracts::test
