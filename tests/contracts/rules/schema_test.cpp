// SPDX-License-Identifier: Apache-2.0
// Which states a program goes on from.
#include "contracts/rules/market/kept_window.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/contracts/rules/leased_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// As schemas up to 13 listed open games: one index by claimant, height and name.
void list_open_games_as_before(MemoryState& state, const StateView& now, const Hash256& job) {
    for (const auto& [key, value] : now.scan({})) {
        const auto table = static_cast<Table>(key.front());
        if (table == Table::kPlayedGames || table == Table::kQueuedGame || table == Table::kQueueHead)
            state.erase(key);
    }
    for (const Game& game : list_games(now, job))
        if (game.is_open())
            state.put(KeyBuilder(Table::kPlayedGames)
                          .add(game.claimant.bytes)
                          .add_number(game.opened_at, 8)
                          .add(job.view())
                          .add_number(game.number, 4)
                          .take(),
                      {});
}

}  // namespace

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
    // Two of them are played, and the others wait.
    for (const char* who : {"m5", "m5", "v4", "m5", "v4"}) w.open(who, 0, UnitKind::kCarried);
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
    list_open_games_as_before(older, w.env.state(), w.job);
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
    CHECK(list_games_about(next.state(), w.claim(0)).size() == 5);
}

TEST_CASE("games of a state of schema 13 go on in the order in which they waited") {
    DisputeWorld w;
    for (const char* who : {"m5", "m5", "m5", "v4", "m5", "v4"}) w.open(who, 0, UnitKind::kCarried);
    MemoryState older;
    for (const auto& [key, value] : w.env.state().scan({})) older.put(key, value);
    list_open_games_as_before(older, w.env.state(), w.job);
    Meta meta = read_meta(older);
    meta.schema = 13;
    store(older, meta_key(), meta);
    CHECK(check_invariants(older).ok());
    Env next(std::move(older), w.env.height());
    next.next_block();
    const auto phase = [&](std::uint32_t number) { return read_game(next.state(), w.job, number)->phase; };
    REQUIRE((phase(0) == GamePhase::kRunning && phase(2) == GamePhase::kQueued));
    next.send(next.person(w.miner_of(0)), DisputeProve{w.job, 0, w.true_witness()});
    CHECK(phase(3) == GamePhase::kRunning);  // v4 had none
    CHECK(phase(2) == GamePhase::kQueued);
}

TEST_CASE("a job of schema 13 that waits for its first round is due a claim window behind its enlistment") {
    JobSpec spec = leased_job();
    spec.market.deadline_blocks = 1'000'000'000;
    LeasedWorld w(spec);
    w.enlist();
    w.pass_enlistment();
    MemoryState older;
    for (const auto& [key, value] : w.env.state().scan({})) older.put(key, value);
    JobProgress progress = *read_job_progress(older, w.job);
    const std::uint64_t last = progress.phase_deadline;
    REQUIRE(last ==
            last_of_first_wait(w.env.params(), w.record(), kept_window(read_market_params(w.env.state()))));
    progress.phase_deadline = w.record().deadline - 1;
    schedule(older, w.job, progress, progress.phase_deadline);
    store(older, job_progress_key(w.job), progress);
    Meta meta = read_meta(older);
    meta.schema = 13;
    store(older, meta_key(), meta);
    const bool late = GENERATE(false, true);
    CAPTURE(late);
    Env next(std::move(older), late ? last + 100 : w.env.height());
    next.next_block();
    if (!late) {
        CHECK(read_job_progress(next.state(), w.job)->phase_deadline == last);
        next.advance_to(last + 1);
    }
    CHECK(next.job(w.job).end_reason == Reason::kNoMiners);
    CHECK(read_meta(next.state()).active_jobs == 0);
}

}  // namespace assay::contracts::test
