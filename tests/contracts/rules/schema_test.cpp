// SPDX-License-Identifier: Apache-2.0
// Which states a program goes on from.
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("a state of an unknown schema, or of none, is refused with a sentence") {
    MemoryState nothing;
    CHECK(check_schema(nothing).error() == "the state names no schema");
    Env env;
    Overlay overlay(env.state());
    Meta meta = read_meta(overlay);
    for (const std::uint32_t schema : {0U, kOldestSchema - 1, kSchemaVersion + 1, 0xffffffffU}) {
        meta.schema = schema;
        store(overlay, meta_key(), meta);
        const auto known = check_schema(overlay);
        REQUIRE_FALSE(known.ok());
        CHECK(known.error() == "the state has schema " + std::to_string(schema) + "; this program reads " +
                                   std::to_string(kOldestSchema) + " to " + std::to_string(kSchemaVersion));
    }
    CHECK(check_schema(env.state()).ok());
    // A newer program may have written more behind it.
    Bytes longer = base::encode(meta);
    longer.push_back(7);
    overlay.put(meta_key(), longer);
    CHECK(schema_of(overlay) == 0xffffffffU);
}

TEST_CASE("a state of schema 10 with open windows and games becomes what this schema would have made of it") {
    DisputeWorld w;
    const std::uint32_t lost = w.open("v4", 1);
    w.env.send(w.env.person(w.miner_of(1)), DisputeConcede{w.job, lost});
    w.open("m5", 0);
    MemoryState whole;
    for (const auto& [key, value] : w.env.state().scan({})) whole.put(key, value);
    store(whole, market_params_key(), MarketParams{});  // the market came with schema 12
    MemoryState older;
    std::size_t indexed = 0;
    for (const auto& [key, value] : w.env.state().scan({})) {
        const auto table = static_cast<Table>(key.front());
        const bool index =
            table == Table::kClaimOf || table == Table::kWindowEnd || table == Table::kGameAbout;
        indexed += index ? 1U : 0U;
        if (!index) older.put(key, value);
    }
    REQUIRE(indexed > 6);
    Meta meta = read_meta(older);
    meta.schema = 10;
    older.erase(market_params_key());
    store(older, meta_key(), meta);
    REQUIRE(check_schema(older).ok());
    CHECK(check_invariants(older).ok());
    migrate(older);
    CHECK(older.all() == whole.all());
    Env next(std::move(older), w.env.height());
    next.next_block();
    CHECK(list_games_about(next.state(), w.claim(0)).size() == 1);
}

}  // namespace assay::contracts::test
