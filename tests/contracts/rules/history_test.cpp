// SPDX-License-Identifier: Apache-2.0
// The records of an ended job leave the state, and nothing but those: what is left names them by their hash.
#include "contracts/rules/job/history.hpp"

#include "contracts/rules/job/leaving.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/leased_world.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// A job that is in its first round.
struct HistoryWorld {
    Env env;
    Hash256 id;

    HistoryWorld() {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        id = env.post(small_job());
    }
    void hold_auction() { env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"}); }
    [[nodiscard]] Records records_in_state() const {
        Records found;
        for (const Table table : tables_of_job()) {
            const Bytes prefix = KeyBuilder(table).add(id.view()).take();
            for (auto& record : env.state().scan(prefix)) found.push_back(std::move(record));
        }
        return found;
    }
    /// Sees the job end as `end` ends it, and its records leave in the block after.
    void expect_leaving(const std::function<void()>& end, Reason reason) {
        end();
        play_job(env, id);  // the windows
        const auto progress = read_job_progress(env.state(), id);
        REQUIRE(progress.has_value());
        REQUIRE(progress->phase == JobPhase::kEnded);
        CHECK(progress->due == env.height() + 1);
        CHECK(next_deadline(env.state()) == env.height() + 1);
        const Job job = env.job(id);
        Records before = records_in_state();
        env.next_block();
        CHECK(records_in_state().empty());
        CHECK_FALSE(next_due(env.state()).has_value());
        const auto ended = read_ended_job(env.state(), id);
        REQUIRE(ended.has_value());
        CHECK(to_text(ended->reason) == to_text(reason));
        CHECK(ended->name == job.spec.name);
        CHECK(ended->buyer == job.buyer);
        CHECK(ended->buyer_node == job.buyer_node);
        CHECK(ended->spec == hash_of_spec(job.spec));
        CHECK(ended->submitted_at == job.submitted_at);
        CHECK(ended->ended_at == env.height() - 1);
        CHECK(ended->rounds == job.spec.rounds);
        CHECK(ended->rounds_done == job.rounds_done);
        CHECK(ended->base_root == job.base_root);
        CHECK(ended->base_blob == job.base_blob);
        CHECK(ended->budget == job.spec.market.budget);
        CHECK(ended->spent == job.spent);
        CHECK(ended->refunded == job.refunded);
        // What left is what was there, but for the height at which it was to leave.
        Records left;
        for (const RecordGroup& group : ended->groups) {
            const auto records = read_group(id, group, history_of_env());
            REQUIRE(records.ok());
            CHECK(records->size() == group.records);
            for (const auto& record : *records) left.push_back(record);
        }
        REQUIRE(left.size() == before.size());
        JobProgress last = *progress;
        last.due = 0;
        before.back().second = base::encode(last);
        CHECK(left == before);
        expect_readable(job);
    }
    /// Readers find what they found before, through the history.
    void expect_readable(const Job& job) {
        const WithHistory whole = env.whole();
        CHECK_FALSE(read_job(env.state(), id).has_value());
        const auto found = read_job(whole, id);
        REQUIRE(found.has_value());
        CHECK(found->roster.size() == job.roster.size());
        CHECK(found->verifiers.size() == job.verifiers.size());
        CHECK(list_job_ids(env.state()) == std::vector<Hash256>{id});
        CHECK(list_jobs(env.state()).empty());
        CHECK(list_jobs(whole).size() == 1);
        CHECK(has_ended(env.state(), id));
        CHECK(has_ended(whole, id));
        for (std::uint32_t round = 0; round < job.round; ++round) {
            CHECK_FALSE(read_round(env.state(), id, round).has_value());
            REQUIRE(read_round(whole, id, round).has_value());
            CHECK(list_settlement(whole, id, round).size() == read_round(whole, id, round)->lines);
        }
    }
    [[nodiscard]] HistoryReader history_of_env() const {
        return [this](ByteView key) -> std::optional<Bytes> {
            const auto found = env.history().find(base::to_bytes(key));
            if (found == env.history().end()) return std::nullopt;
            return found->second;
        };
    }
};

}  // namespace

TEST_CASE("however a job ends, its records leave in the block after, and are found by their hashes") {
    HistoryWorld w;
    SECTION("complete") {
        w.hold_auction();
        w.expect_leaving([&] { play_job(w.env, w.id); }, Reason::kJobComplete);
    }
    SECTION("cancelled while bidding") {
        w.expect_leaving([&] { w.env.send(w.env.person("buyer"), JobCancel{w.id}); }, Reason::kJobCancelled);
    }
    SECTION("cancelled in a round") {
        w.hold_auction();
        w.env.send(w.env.person("buyer"), JobCancel{w.id});
        w.expect_leaving([&] { play_round(w.env, w.id); }, Reason::kJobCancelled);
    }
    SECTION("nobody asked") {
        w.env.let_deadline_pass();
        w.expect_leaving([&] { w.env.let_deadline_pass(); }, Reason::kNoAsks);
    }
    SECTION("expired") {
        w.hold_auction();
        w.env.edit<JobTerms>(job_terms_key(w.id), [&](JobTerms& terms) { terms.deadline = w.env.height(); });
        w.expect_leaving([&] { play_round(w.env, w.id); }, Reason::kJobDeadline);
    }
    SECTION("aborted by its verifiers") {
        w.hold_auction();
        const Play none = {.mergers = {{"v1", MergeManner::kAbsent},
                                       {"v2", MergeManner::kAbsent},
                                       {"v3", MergeManner::kAbsent}}};
        play_round(w.env, w.id, none);
        w.expect_leaving([&] { play_round(w.env, w.id, none); }, Reason::kMergeUnresolved);
    }
}

TEST_CASE("a message about a job that has left is refused, and one about no job by another name") {
    HistoryWorld w;
    w.hold_auction();
    const SlotRound slot = *read_slot(w.env.state(), w.id, 0, 0);
    play_job(w.env, w.id);
    for (const bool left : {false, true}) {
        CHECK(read_ended_job(w.env.state(), w.id).has_value() == left);
        w.env.refuse(Reason::kJobOver, w.env.person("buyer"), JobCancel{w.id});
        w.env.refuse(Reason::kJobOver, w.env.person("m1"), AskCommit{w.id, bytes_of("late")});
        w.env.refuse(Reason::kJobOver, w.env.by_node(slot.miner), RoundCommit{w.id, 0, 0, bytes_of("late")});
        w.env.refuse(Reason::kJobOver, w.env.person("buyer"),
                     EndpointUpdate{.endpoint = "127.0.0.1:7001", .job = w.id});
        w.env.refuse(Reason::kUnknownJob, w.env.person("buyer"), JobCancel{bytes_of("no such job")});
        w.env.next_block();
    }
}

TEST_CASE("records leave once: what has left, or never was, is not taken again") {
    HistoryWorld w;
    w.hold_auction();
    play_job(w.env, w.id);
    w.env.next_block();
    Overlay again(w.env.state());
    LeavingRoom room;
    leave(again, w.id, w.env.height(), room);
    leave(again, bytes_of("no such job"), w.env.height(), room);
    CHECK(room.records == kMaxLeavingPerBlock);
    CHECK(room.bytes == kMaxLeavingBytesPerBlock);
    CHECK(again.changes().empty());
    CHECK(again.history().empty());
}

TEST_CASE("records that find no room leave in the next block, and the state holds in between") {
    HistoryWorld w;
    w.hold_auction();
    play_job(w.env, w.id);
    MemoryState at_once;
    for (const auto& [key, value] : w.env.state().scan({})) at_once.put(key, value);
    MemoryState by_parts = at_once;
    std::uint64_t height = w.env.height() + 1;
    const std::size_t all = w.records_in_state().size();
    LeavingRoom whole_job{.records = all};
    leave(at_once, w.id, height, whole_job);
    CHECK(whole_job.records == 0);
    for (std::size_t left = 0; left < all; ++height) {
        Overlay block(by_parts);
        LeavingRoom room{.records = 7};
        leave(block, w.id, height, room);
        left += 7 - room.records;
        const auto changed = check_invariants(by_parts, block);
        INFO((changed ? std::string() : changed.error().what));
        REQUIRE(changed.ok());
        block.write_to(by_parts);
        REQUIRE(check_invariants(by_parts).ok());
        const WithHistory whole(by_parts, history_of(by_parts));
        REQUIRE(read_job(whole, w.id).has_value());
        CHECK(list_settlement(whole, w.id, 0).size() == list_settlement(w.env.whole(), w.id, 0).size());
        CHECK(list_due(by_parts, height + 1).size() == (left < all ? 1U : 0U));
    }
    const EndedJob once = *read_ended_job(at_once, w.id);
    const EndedJob parts = *read_ended_job(by_parts, w.id);
    REQUIRE(once.groups.size() == parts.groups.size());
    for (std::size_t i = 0; i < once.groups.size(); ++i) {
        CHECK(once.groups[i].records == parts.groups[i].records);
        CHECK(read_group(w.id, once.groups[i], history_of(at_once)).value() ==
              read_group(w.id, parts.groups[i], history_of(by_parts)).value());
    }
}

namespace {

/// Lets the records of an ended job leave by so many a block, and checks the state after each.
void leave_by(const MemoryState& ended, const Hash256& id, std::uint64_t height, std::size_t records) {
    MemoryState state = ended;
    for (int blocks = 0; read_job_progress(state, id); ++height) {
        REQUIRE(++blocks <= 10'000);
        Overlay block(state);
        LeavingRoom room{.records = records};
        leave(block, id, height, room);
        const auto changed = check_invariants(state, block);
        INFO((changed ? std::string() : changed.error().what));
        REQUIRE(changed.ok());
        block.write_to(state);
    }
    for (const Table table : tables_of_job())
        CHECK(state.scan(KeyBuilder(table).add(id.view()).take()).empty());
    REQUIRE(check_invariants(state).ok());
}

/// A job that is over, whose records are still in the state.
void leave_by_any_room(const Env& env, const Hash256& id, const std::vector<Table>& expected) {
    REQUIRE(read_job_progress(env.state(), id)->phase == JobPhase::kEnded);
    MemoryState ended;
    for (const auto& [key, value] : env.state().scan({})) ended.put(key, value);
    std::size_t all = 0;
    for (const Table table : tables_of_job())
        all += ended.scan(KeyBuilder(table).add(id.view()).take()).size();
    for (const Table table : expected)
        CHECK_FALSE(ended.scan(KeyBuilder(table).add(id.view()).take()).empty());
    for (std::size_t records = 1; records <= all; ++records) {
        CAPTURE(records, all);
        leave_by(ended, id, env.height() + 1, records);
    }
}

}  // namespace

TEST_CASE("whatever record is the last of a block, the others leave in the next ones, the progress last") {
    SECTION("a job whose merges clip updates") {
        Env env;
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.train.max_update_norm = 2.0F;
        const Hash256 id = env.post(spec);
        env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        play_job(env, id);
        leave_by_any_room(env, id, {Table::kMergePlace});
    }
    SECTION("a job with lost accusations") {
        Env env;
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        const Hash256 id = env.post(small_job());
        env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        const VerifierManner accuses = VerifierManner::kAccuses;
        play_job(env, id, {.verifiers = {{"v1", accuses}, {"v2", accuses}, {"v3", accuses}}});
        leave_by_any_room(env, id, {Table::kGame});
    }
    SECTION("a job that leases, with a dropped machine") {
        LeasedWorld w;
        w.start(500);
        play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
        w.env.send(w.env.person("buyer"), JobCancel{w.job});
        for (int i = 0; i < 100 && w.record().phase != JobPhase::kEnded; ++i) w.env.let_deadline_pass();
        leave_by_any_room(w.env, w.job, {Table::kRoundPrices, Table::kDroppedAt});
    }
}

TEST_CASE("a row that was changed, lost, shortened or taken from another job is named") {
    HistoryWorld w;
    w.hold_auction();
    play_job(w.env, w.id);
    w.env.next_block();
    const EndedJob ended = *read_ended_job(w.env.state(), w.id);
    for (const RecordGroup& group : ended.groups) {
        const Bytes wanted = history_key(w.id, static_cast<Table>(group.table), group.rows - 1);
        const auto with = [&](const std::function<std::optional<Bytes>(Bytes)>& change) {
            const auto rows = w.history_of_env();
            const auto records = read_group(w.id, group, [&](ByteView key) {
                auto row = rows(key);
                return base::to_bytes(key) == wanted && row ? change(*row) : row;
            });
            return records ? std::string() : records.error();
        };
        CHECK(with([](Bytes row) { return row; }).empty());
        const std::string flipped = with([](Bytes row) {
            row.back() ^= 1U;
            return row;
        });
        CHECK(flipped.find(w.id.hex()) != std::string::npos);
        CHECK(flipped.find("table 0x") != std::string::npos);
        CHECK(with([](const Bytes&) { return std::optional<Bytes>(); }).find("is missing") !=
              std::string::npos);
        CHECK(with([](const Bytes&) { return base::encode(HistoryRow{}); }).find("hash") !=
              std::string::npos);
        CHECK(with([](Bytes row) {
                  auto other = base::decode<HistoryRow>(row).value();
                  other.records.front().first[5] ^= 1U;
                  return base::encode(other);
              }).find("another job") != std::string::npos);
    }
    std::vector<std::string> told;
    const WithHistory damaged(
        w.env.state(), [](ByteView) { return std::optional<Bytes>(); },
        [&](const std::string& what) { told.push_back(what); });
    CHECK_FALSE(read_job(damaged, w.id).has_value());
    CHECK_FALSE(told.empty());
}

namespace {

/// A state that goes on, as a node's does under whoever reads from it: after `reads` answers the next of
/// `states` is there, and after every further answer the one after that.
class StateThatGoesOn final : public StateView {
public:
    StateThatGoesOn(const std::vector<MemoryState>& states, std::size_t reads)
        : states_(states), reads_(reads) {}
    [[nodiscard]] std::optional<Bytes> get(ByteView key) const override { return next().get(key); }
    void for_each(ByteView prefix, ByteView from, const Visitor& visit) const override {
        next().for_each(prefix, from, visit);
    }

private:
    [[nodiscard]] const StateView& next() const {
        const std::size_t now = done_++ < reads_ ? 0 : done_ - reads_;
        return states_[std::min(now, states_.size() - 1)];
    }
    const std::vector<MemoryState>& states_;
    std::size_t reads_;
    mutable std::size_t done_ = 0;
};

}  // namespace

TEST_CASE("who reads while records leave finds each of them once, whenever they leave") {
    HistoryWorld w;
    w.hold_auction();
    play_job(w.env, w.id);
    std::vector<MemoryState> states(1);
    for (const auto& [key, value] : w.env.state().scan({})) states.front().put(key, value);
    const std::size_t all = w.records_in_state().size();
    const std::size_t part = GENERATE_COPY(std::size_t{9}, all);
    for (std::size_t left = 0; left < all; left += part) {
        states.push_back(states.back());
        LeavingRoom room{.records = part};
        leave(states.back(), w.id, w.env.height() + states.size(), room);
    }
    const HistoryReader rows = history_of(states.back());
    for (const Table table : tables_of_job()) {
        // The progress says when it is due to leave, so that its bytes are those of the block that reads it.
        if (table == Table::kJobProgress) continue;
        const Bytes prefix = KeyBuilder(table).add(w.id.view()).take();
        const Records expected = states.front().scan(prefix);
        for (std::size_t reads = 0; reads < 4; ++reads) {
            CAPTURE(static_cast<int>(table), reads, part);
            const StateThatGoesOn moving(states, reads);
            const WithHistory whole(moving, rows, [](const std::string& what) { FAIL(what); });
            CHECK(whole.scan(prefix) == expected);
        }
    }
}

TEST_CASE("a visitor of one job's records may ask for another job's") {
    HistoryWorld w;
    w.hold_auction();
    play_job(w.env, w.id);
    const Hash256 other = w.env.post(small_job());
    w.env.hold_auction(other, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    play_job(w.env, other);
    w.env.next_block();
    const WithHistory whole = w.env.whole();
    const Bytes prefix = KeyBuilder(Table::kSettlement).add(w.id.view()).take();
    const Records expected = whole.scan(prefix);
    REQUIRE(expected.size() > 3);
    Records visited;
    whole.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        visited.emplace_back(base::to_bytes(key), base::to_bytes(value));
        CHECK(read_job(whole, other).has_value());
        CHECK_FALSE(list_settlement(whole, other, 0).empty());
        return true;
    });
    CHECK(visited == expected);
}

TEST_CASE(
    "a job that has left with a record behind it, an open claim or a place among the active is a violation") {
    HistoryWorld w;
    w.hold_auction();
    const Bytes claim = w.env.state().get(claim_key({w.id, 0, ClaimKind::kSlot, 0})).value();
    play_job(w.env, w.id);
    w.env.next_block();
    const auto finding = [&](const std::function<void(Overlay&)>& damage) {
        Overlay overlay(w.env.state());
        damage(overlay);
        CHECK_FALSE(check_invariants(w.env.state(), overlay).ok());
        const auto whole = check_invariants(overlay);
        return whole.ok() ? std::string() : whole.error().what;
    };
    CHECK(finding([&](Overlay& o) {
              store(o, buyer_endpoint_key(w.id), std::string("a:1"));
          }).find("was left behind") != std::string::npos);
    CHECK(finding([&](Overlay& o) { o.put(active_job_key(w.id), {}); }).find("listed as active") !=
          std::string::npos);
    CHECK_FALSE(finding([&](Overlay& o) {
                    o.put(claim_key({w.id, 0, ClaimKind::kSlot, 0}), claim);
                }).empty());
    Overlay gone(w.env.state());
    gone.erase(ended_job_key(w.id));
    CHECK_FALSE(check_invariants(w.env.state(), gone).ok());
    Overlay row(w.env.state());
    row.put(history_key(w.id, Table::kRound, 0), {});
    CHECK_FALSE(check_invariants(w.env.state(), row).ok());
}

}  // namespace assay::contracts::test
