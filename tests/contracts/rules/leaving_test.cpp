// SPDX-License-Identifier: Apache-2.0
// What a block takes out of the state is bounded in records and in bytes, and so is what it reads of the jobs
// that wait for their turn.
#include "contracts/rules/job/leaving.hpp"

#include "contracts/rules/job/history.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// A state that counts what is read of the index of deadlines.
class CountingState final : public State {
public:
    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override { return state.get(key); }
    void for_each(ByteView prefix, ByteView from, const Visitor& visit) const override {
        state.for_each(prefix, from, [&](ByteView key, ByteView value) {
            if (key.front() == static_cast<std::uint8_t>(Table::kDeadline)) ++deadlines;
            return visit(key, value);
        });
    }
    void put(ByteView key, Bytes value) override { state.put(key, std::move(value)); }
    void erase(ByteView key) override { state.erase(key); }
    void hand_over(ByteView key, Bytes row) override { state.hand_over(key, std::move(row)); }

    MemoryState state;
    mutable std::size_t deadlines = 0;
};

/// Many jobs that have ended and wait to leave, each with every record of one that was played, and one job
/// whose asks are to be taken until the height before the next.
struct Backlog {
    Env env;
    Hash256 waiting;
    std::size_t records = 0;  ///< of each job
    std::uint64_t next = 0;   ///< the height of the next block
    CountingState state;

    /// `endpoint`: the buyer's of each ended job, by the length of which its records are long.
    Backlog(std::size_t jobs, std::uint64_t heights, const std::string& endpoint = "h:1") {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        const Hash256 id = env.post(small_job());
        env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        play_job(env, id);
        waiting = env.post(small_job());
        next = env.job(waiting).phase_deadline + 1;
        REQUIRE(next > heights);
        for (const auto& [key, value] : env.state().scan({})) {
            const bool of_ended = key.size() > 32 && base::hash_from(ByteView(key).subspan(1, 32)) == id;
            if (!of_ended) {
                if (!deadline_of(key) || deadline_of(key)->subject != id) state.put(key, value);
                continue;
            }
            if (!leaves_with_job(static_cast<Table>(key.front()))) continue;
            ++records;
            for (std::size_t n = 0; n < jobs; ++n) {
                Bytes copy = key;
                const Hash256 name = bytes_of("job " + std::to_string(n));
                std::copy(name.bytes.begin(), name.bytes.end(), copy.begin() + 1);
                state.put(copy, value);
            }
        }
        for (std::size_t n = 0; n < jobs; ++n) {
            const Hash256 name = bytes_of("job " + std::to_string(n));
            JobProgress progress = *read_job_progress(state, name);
            progress.due = 0;
            schedule_leaving(state, name, progress, next - n % heights);
            store(state, job_progress_key(name), progress);
            store(state, buyer_endpoint_key(name), endpoint);
        }
        state.deadlines = 0;
    }
    void block() {
        const BlockContext context{env.chain(), next++};
        begin_block(state, context);
    }
    [[nodiscard]] std::size_t waiting_to_leave() const {
        std::size_t found = 0;
        for (const Deadline& due : list_due(state.state, std::numeric_limits<std::uint64_t>::max()))
            found += due.kind == DueKind::kLeaving ? 1 : 0;
        return found;
    }
};

}  // namespace

TEST_CASE("a block reads of the jobs that wait to leave those that it takes, however many wait") {
    const std::uint64_t heights = GENERATE(std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{9});
    CAPTURE(heights);
    Backlog backlog(400, heights);
    const std::size_t taken = kMaxLeavingPerBlock / backlog.records + 1;
    REQUIRE(taken < 200);
    backlog.block();
    // Those that it took, the last of them in part; the job whose asks are closed; and where it stopped.
    CHECK(backlog.state.deadlines <= taken + 3);
    CHECK(backlog.waiting_to_leave() == 400 - (taken - 1));
    CHECK(read_job_progress(backlog.state, backlog.waiting)->phase == JobPhase::kAskReveal);
    std::size_t blocks = 1;
    for (; backlog.waiting_to_leave() > 0; ++blocks) {
        REQUIRE(blocks < 100);
        backlog.block();
    }
    CHECK(blocks == (400 * backlog.records + kMaxLeavingPerBlock - 1) / kMaxLeavingPerBlock);
    for (const auto& [id, ended] : list_ended_jobs(backlog.state)) {
        CHECK_FALSE(read_job_progress(backlog.state, id).has_value());
        for (const RecordGroup& group : ended.groups)
            CHECK(read_group(id, group, history_of(backlog.state.state)).ok());
    }
}

TEST_CASE("long records leave by their bytes, and each of them leaves") {
    constexpr std::size_t kLong = 300 * 1024;
    Backlog backlog(40, 1, std::string(kLong, 'x'));
    std::size_t blocks = 0;
    for (; backlog.waiting_to_leave() > 0; ++blocks) {
        REQUIRE(blocks < 20);
        backlog.block();
        std::size_t bytes = 0;
        for (const auto& [key, row] : backlog.state.state.take_history()) bytes += row.size();
        // The last record goes over the limit; an encoded row has a few bytes about each of its own.
        CHECK(bytes < kMaxLeavingBytesPerBlock + kLong + kMaxLeavingBytesPerBlock / 16);
        if (blocks == 0) CHECK(bytes >= kMaxLeavingBytesPerBlock);
    }
    CHECK(blocks >= 3);
    CHECK(list_ended_jobs(backlog.state).size() == 40);
    for (const Table table : tables_of_job()) {
        for (const auto& [key, value] : backlog.state.scan(table_prefix(table)))
            CHECK(base::hash_from(ByteView(key).subspan(1, 32)) == backlog.waiting);
    }
}

TEST_CASE("the market's clock goes on in a block whose room for leaving is used up") {
    Backlog backlog(400, 1);
    MarketClock clock;
    clock.phase = MarketPhase::kSealing;
    clock.open_at = backlog.next;
    clock.clear_at = backlog.next + 5;
    clock.end = backlog.next + 20;
    store(backlog.state, market_clock_key(), clock);
    backlog.state.put(deadline_key({clock.due(), DueKind::kMarket, {}}), {});
    backlog.block();
    CHECK(backlog.waiting_to_leave() > 0);
    CHECK(read_market_clock(backlog.state).phase == MarketPhase::kOpening);
}

}  // namespace assay::contracts::test
