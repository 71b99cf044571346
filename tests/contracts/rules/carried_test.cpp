// SPDX-License-Identifier: Apache-2.0
// Jobs whose slots go on with the moments of their last accepted round: what the ledger enforces of it.
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct CarryingWorld {
    Env env;
    Hash256 job;

    explicit CarryingWorld(JobSpec spec = carrying_job(), const Params& params = short_windows())
        : env(params) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    static JobSpec carrying_job() {
        JobSpec spec = small_job();
        spec.inner_state = program::InnerState::kCarried;
        return spec;
    }
    CarriedIn carried(std::uint32_t round, std::uint32_t slot) {
        return carried_in(env.state(), job, round, slot);
    }
    /// Commits `trace` for a slot of the running round, and lets everything pass up to the reveal.
    RoundReveal commit(std::uint32_t slot, const TraceRecord& trace) {
        const Job record = env.job(job);
        const SlotRound dealt = *read_slot(env.whole(), job, record.round, slot);
        Person& who = env.by_node(dealt.miner);
        env.send(who, RoundCommit{job, record.round, slot, seal_of(env, record, dealt, trace)});
        env.advance_to(env.round(job).phase_deadline + 1);
        play_links(env, job, {});
        while (env.round(job).phase != RoundPhase::kReveal) env.let_deadline_pass();
        return reveal_of(env, job, slot, trace);
    }
    Person& miner_of(std::uint32_t slot) {
        return env.by_node(read_slot(env.whole(), job, env.job(job).round, slot)->miner);
    }
};

}  // namespace

TEST_CASE("a slot goes on with what its last accepted round handed on, from the blob of its last boundary") {
    CarryingWorld w;
    for (const std::uint32_t slot : {0U, 1U}) CHECK(w.carried(0, slot).nothing());
    play_round(w.env, w.job);
    for (const std::uint32_t slot : {0U, 1U}) {
        const CarriedIn carried = w.carried(1, slot);
        CHECK(carried.root == true_trace(w.env.job(w.job), 0, slot).carried->out);
        CHECK(carried.blob == bytes_of("carried blob"));
        CHECK(carried.holder == read_slot(w.env.whole(), w.job, 0, slot)->miner);
    }
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
}

TEST_CASE("a slot that was not accepted goes on with nothing, whatever the reason") {
    for (const MinerManner manner : {MinerManner::kAbsent, MinerManner::kSilent, MinerManner::kCheats}) {
        CarryingWorld w;
        play_round(w.env, w.job);
        const std::uint32_t slot = slot_of(w.env, w.job, "m2");
        const std::uint32_t other = slot_of(w.env, w.job, "m1");
        play_round(w.env, w.job, {.miners = {{"m2", manner}}});
        CHECK(w.carried(2, slot).nothing());
        CHECK_FALSE(w.carried(2, other).nothing());
    }
}

TEST_CASE("a miner that commits nothing is absent, but where another one has what its slot carries") {
    bool own_seen = false, other_seen = false;
    for (std::uint64_t seed = 1; seed <= 20 && !(own_seen && other_seen); ++seed) {
        JobSpec spec = CarryingWorld::carrying_job();
        spec.seed = seed;
        CarryingWorld w(spec);
        play_round(w.env, w.job);
        const auto missed = [&] {
            const Job job = w.env.job(w.job);
            for (const RosterEntry& entry : job.roster) {
                if (entry.node == w.env.person("m2").node_key()) return entry.missed;
            }
            return UINT32_MAX;
        };
        const CarriedIn carried = w.carried(1, slot_of(w.env, w.job, "m2"));
        const bool own = carried.holder == w.env.person("m2").node_key();
        (own ? own_seen : other_seen) = true;
        play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kAbsent}}});
        CHECK(missed() == (own ? kAbsenceWeight : 0));
        // It is dealt its own slot, which carries nothing now, or the other's, whose moments m1 has.
        const bool excused = !w.carried(2, slot_of(w.env, w.job, "m2")).nothing();
        play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kAbsent}}});
        const std::uint32_t before = own ? kAbsenceWeight : 0;
        CHECK(missed() == (excused ? before / kAbsenceWeight : before + kAbsenceWeight));
    }
    CHECK((own_seen && other_seen));
}

TEST_CASE("a reveal that goes on with another state than the last accepted one is refused") {
    CarryingWorld w;
    play_round(w.env, w.job);
    const Job job = w.env.job(w.job);
    const std::uint32_t slot = slot_of(w.env, w.job, "m1");
    TraceRecord fresh = true_trace(job, 1, slot);
    fresh.carried->in = {};  // as if it began with zero moments
    const RoundReveal reveal = w.commit(slot, fresh);
    w.env.refuse(Reason::kWrongCarried, w.miner_of(slot), reveal);
}

TEST_CASE("a trace that begins with another state than base and carried moments cannot be opened: silence") {
    for (const std::uint32_t round : {0U, 1U}) {
        CAPTURE(round);
        CarryingWorld w;
        if (round == 1) play_round(w.env, w.job);
        const Job job = w.env.job(w.job);
        const std::uint32_t slot = slot_of(w.env, w.job, "m1");
        TraceRecord trace = true_trace(job, round, slot);
        // Of round 1: as if it had begun with zero moments, with all else right.
        trace.boundaries.front() =
            round == 0 ? bytes_of("another") : first_boundary(job.spec, {round, job.base_root, {}});
        const std::uint64_t stake = w.env.stake("m1");
        const RoundReveal reveal = w.commit(slot, trace);
        w.env.refuse(Reason::kWrongStart, w.miner_of(slot), reveal);
        while (is_running(w.env, w.job) && w.env.job(w.job).round == round) w.env.let_deadline_pass();
        CHECK(read_slot(w.env.whole(), w.job, round, slot)->verdict == Reason::kSilentAfterDraw);
        CHECK(w.env.stake("m1") < stake);
    }
}

TEST_CASE("what a reveal shows of its start is the round's base, and what the slot carries") {
    CarryingWorld w;
    play_round(w.env, w.job);
    const Job job = w.env.job(w.job);
    const std::uint32_t slot = slot_of(w.env, w.job, "m1");
    const RoundReveal reveal = w.commit(slot, true_trace(job, 1, slot));
    REQUIRE(reveal.start.carried.has_value());
    REQUIRE(reveal.start.siblings.size() == program::kFirstStateSiblings);
    const auto refused = [&](Reason reason, const auto& change) {
        RoundReveal other = reveal;
        change(other.start);
        w.env.refuse(reason, w.miner_of(slot), other);
    };
    using Parts = program::FirstStateParts;
    refused(Reason::kBadStart, [](Parts& p) { p.parameters = bytes_of("another"); });
    refused(Reason::kBadStart, [](Parts& p) { p.siblings[1] = bytes_of("another"); });
    refused(Reason::kBadStart, [](Parts& p) { p.siblings.pop_back(); });
    refused(Reason::kListTooLong, [](Parts& p) { p.siblings.push_back({}); });
    refused(Reason::kBadStart, [](Parts& p) { p.carried->first_moment = bytes_of("another"); });
    refused(Reason::kBadStart, [](Parts& p) { p.carried->second_moment = bytes_of("another"); });
    refused(Reason::kBadStart, [](Parts& p) { ++p.carried->age; });
    refused(Reason::kBadStart, [](Parts& p) { p.carried.reset(); });
    // The base of the round before is none.
    refused(Reason::kBadStart,
            [&](Parts& p) { p = shown_start(job.spec.initial_root, reveal.trace.carried->in); });
    w.env.send(w.miner_of(slot), reveal);
}

TEST_CASE("a slot that carries nothing brings no moments") {
    CarryingWorld w;
    const Job job = w.env.job(w.job);
    const std::uint32_t slot = slot_of(w.env, w.job, "m1");
    RoundReveal reveal = w.commit(slot, true_trace(job, 0, slot));
    reveal.start.carried.emplace();
    w.env.refuse(Reason::kBadStart, w.miner_of(slot), reveal);
    reveal.start.carried.reset();
    w.env.send(w.miner_of(slot), reveal);
}

TEST_CASE("what is carried is under the seal") {
    CarryingWorld w;
    const Job job = w.env.job(w.job);
    const std::uint32_t slot = slot_of(w.env, w.job, "m1");
    RoundReveal reveal = w.commit(slot, true_trace(job, 0, slot));
    reveal.trace.carried->out = bytes_of("another");
    w.env.refuse(Reason::kSealMismatch, w.miner_of(slot), reveal);
}

TEST_CASE("a trace says what is carried exactly in jobs that carry") {
    CarryingWorld w;
    const std::uint32_t slot = slot_of(w.env, w.job, "m1");
    TraceRecord bare = true_trace(w.env.job(w.job), 0, slot);
    bare.carried.reset();
    w.env.refuse(Reason::kBadTrace, w.miner_of(slot), w.commit(slot, bare));

    CarryingWorld plain(small_job());
    const std::uint32_t other = slot_of(plain.env, plain.job, "m1");
    TraceRecord trace = true_trace(plain.env.job(plain.job), 0, other);
    CHECK_FALSE(trace.carried.has_value());
    trace.carried = {{}, bytes_of("out")};
    plain.env.refuse(Reason::kBadTrace, plain.miner_of(other), plain.commit(other, trace));
}

TEST_CASE("the byte before the update says what a trace holds, and no other byte is read") {
    TraceRecord trace;
    trace.update = bytes_of("update");
    const base::Bytes plain = base::encode(trace);
    CHECK(plain.size() == 4 + 4 + 1 + 32);
    CHECK(plain[8] == 0);
    trace.divergence = program::Divergence{1, 2};
    CHECK(base::encode(trace)[8] == 1);
    trace.carried = {bytes_of("in"), bytes_of("out")};
    base::Bytes both = base::encode(trace);
    CHECK(both[8] == 3);
    CHECK(both.size() == plain.size() + 8 + 64);
    CHECK(base::decode<TraceRecord>(both).value() == trace);
    trace.divergence.reset();
    CHECK(base::decode<TraceRecord>(base::encode(trace)).value() == trace);
    both[8] = 4;
    CHECK(base::decode<TraceRecord>(both).error() == base::DecodeError::kBadBool);
    both[8] = 1;
    CHECK(base::decode<TraceRecord>(both).error() == base::DecodeError::kTrailingBytes);
}

TEST_CASE("a slot that diverged hands nothing on") {
    JobSpec spec = CarryingWorld::carrying_job();
    spec.seed = kDivergingSeed;
    CarryingWorld w(spec);
    play_round(w.env, w.job);
    CHECK(w.carried(1, 0).nothing());
    CHECK_FALSE(w.carried(1, 1).nothing());
}

TEST_CASE("a slot is judged by the age that it was given, also where that is a lie of the round before") {
    Params params = short_windows();
    params.claim_window = 300;
    CarryingWorld w(CarryingWorld::carrying_job(), params);
    const std::uint32_t steps = w.env.job(w.job).spec.train.inner_steps;
    TraceRecord lie = true_trace(w.env.job(w.job), 0, 0);
    lie.carried->out = carried_named("aged", steps + 1'000);
    play_round(w.env, w.job,
               {.verifiers = {{"v1", VerifierManner::kColludes},
                              {"v2", VerifierManner::kColludes},
                              {"v3", VerifierManner::kColludes}},
                .traces = {{0, lie}}});
    play_round(w.env, w.job);
    const auto age_of = [&](std::uint32_t round, std::uint32_t slot) {
        const ClaimId id{w.job, round, ClaimKind::kSlot, slot};
        return unit_claim(w.env.state(), id, dispute::UnitKind::kSegment, 0).value().age;
    };
    CHECK(age_of(0, 0) == 0);
    CHECK(age_of(0, 1) == 0);
    CHECK(age_of(1, 0) == steps + 1'000);
    CHECK(age_of(1, 1) == steps);
    // What a slot showed goes with its reveal.
    while (read_reveal(w.env.state(), w.job, 1, 0)) w.env.next_block();
    CHECK(read_shown_age(w.env.state(), w.job, 1, 0) == 0);
}

TEST_CASE("of a state of schema 12 the ages are counted from the rounds in which slots were accepted") {
    Params params = short_windows();
    params.claim_window = 300;
    CarryingWorld w(CarryingWorld::carrying_job(), params);
    for (int round = 0; round < 3; ++round) play_round(w.env, w.job);
    MemoryState now, older;
    std::size_t ages = 0;
    for (const auto& [key, value] : w.env.state().scan({})) {
        now.put(key, value);
        const bool is_age = static_cast<Table>(key.front()) == Table::kShownAge;
        ages += is_age ? 1U : 0U;
        if (!is_age) older.put(key, value);
    }
    REQUIRE(ages == 4);
    Meta meta = read_meta(older);
    meta.schema = 12;
    store(older, meta_key(), meta);
    migrate(older);
    CHECK(older.all() == now.all());
}

}  // namespace assay::contracts::test
