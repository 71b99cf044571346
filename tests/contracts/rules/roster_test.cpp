// SPDX-License-Identifier: Apache-2.0
// Places of a roster that nobody holds, who may take them, and what it costs to hold one and not to work.
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const Play kBothAbsent = {.miners = {{"m1", MinerManner::kAbsent}, {"m2", MinerManner::kAbsent}}};

/// A job of two slots whose places m1 and m2 took at no price. m3 and m4 stand by.
struct RosterWorld {
    Env env;
    Hash256 job;

    explicit RosterWorld(Params params = short_windows(), std::uint32_t rounds = 4) : env(params) {
        for (const char* name : {"m1", "m2", "m3", "m4"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.rounds = rounds;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 0}, {"m2", 0}}, {"v1", "v2", "v3"});
        REQUIRE(env.job(job).auction.winners == 2);
    }
    /// Leaves each of them the bonds of the running round alone.
    void keep_bonds(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            take_stake(name);
            REQUIRE(env.stake(name) == read_slot(env.whole(), job, 0, 0)->bond.units());
        }
    }
    void take_stake(const std::string& name) {
        Person& who = env.person(name);
        env.send(who, StakeWithdraw{who.node_key(), read_stake(env.state(), who.node_key()).free});
    }
    void join(const std::string& name) { env.send(env.person(name), JobJoin{job}); }
    void refuse(Reason reason, const std::string& name) {
        env.refuse(reason, env.person(name), JobJoin{job});
    }
    [[nodiscard]] const RosterEntry* entry(const std::string& name) {
        static Job record;
        record = env.job(job);
        for (const RosterEntry& one : record.roster)
            if (one.node == env.person(name).node_key()) return &one;
        return nullptr;
    }
    SettlementLine line(std::uint32_t round, const std::string& name) {
        return line_of(env, job, round, LineKind::kSlot, name);
    }
    [[nodiscard]] bool holds_slot(std::uint32_t round, const std::string& name) {
        for (const SlotRound& slot : list_slots(env.whole(), job, round))
            if (slot.miner == env.person(name).node_key()) return true;
        return false;
    }
};

}  // namespace

TEST_CASE("squatters of every place pay, are dropped, and the job finishes with others") {
    RosterWorld w;
    play_round(w.env, w.job, kBothAbsent);
    for (const char* name : {"m1", "m2"}) {
        CHECK(w.line(0, name).reason == Reason::kNoCommit);
        CHECK(w.line(0, name).lost.is_zero());
        CHECK(w.env.stake(name) == kPlenty);
    }
    w.refuse(Reason::kRosterFull, "m3");
    const std::uint64_t buyer = w.env.balance("buyer");
    const Amount bond = read_slot(w.env.whole(), w.job, 1, 0)->bond;
    play_round(w.env, w.job, kBothAbsent);
    for (const char* name : {"m1", "m2"}) {
        const SettlementLine line = w.line(1, name);
        CHECK(line.reason == Reason::kNoCommitAgain);
        CHECK(consequence(line.reason) == Consequence::kPenalty);
        CHECK(line.paid.is_zero());
        CHECK(line.lost == bond.times(w.env.params().no_commit_ppm, kPartsPerMillion, base::Rounding::kUp));
        // A buyer can bring absences about, and earns nothing by them.
        CHECK(line.lost_to_buyer.is_zero());
        CHECK(line.lost_burned == line.lost);
        CHECK(w.env.stake(name) == kPlenty - line.lost.units());
        CHECK(w.entry(name)->dropped_for == Reason::kDropped);
    }
    CHECK(w.env.balance("buyer") == buyer);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    CHECK(w.env.job(w.job).phase_deadline == w.env.height() + w.env.params().storage_window);
    w.refuse(Reason::kAlreadyDone, "m1");  // who was dropped stays out
    w.join("m3");
    w.refuse(Reason::kAlreadyDone, "m3");
    // Others have a while, and no longer once every place is taken.
    CHECK(w.env.job(w.job).phase_deadline == w.env.height() + w.env.params().ask_commit_window);
    w.join("m4");
    CHECK(w.env.job(w.job).phase_deadline == w.env.height());
    w.env.miner("m5");
    w.refuse(Reason::kRosterFull, "m5");
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
    for (const char* name : {"m3", "m4"}) {
        CHECK(w.line(2, name).reason == Reason::kPaid);
        CHECK(w.line(3, name).reason == Reason::kPaid);
        CHECK(w.entry(name)->missed == 0);
        CHECK(w.entry(name)->ask == w.env.job(w.job).auction.clearing_price);
    }
}

TEST_CASE("who joins and does not commit pays at once and is dropped") {
    RosterWorld w(short_windows(), 5);
    play_round(w.env, w.job, kBothAbsent);
    play_round(w.env, w.job, kBothAbsent);
    w.join("m3");
    play_round(w.env, w.job);  // the refill
    REQUIRE(w.env.job(w.job).round == 2);
    CHECK(w.holds_slot(2, "m3"));
    play_round(w.env, w.job, {.miners = {{"m3", MinerManner::kAbsent}}});
    CHECK(w.line(2, "m3").reason == Reason::kNoCommitAgain);
    CHECK_FALSE(w.line(2, "m3").lost.is_zero());
    CHECK(w.entry("m3")->dropped);
    w.join("m4");
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
    CHECK(w.line(4, "m4").reason == Reason::kPaid);
}

TEST_CASE("an absence that two rounds of work made up for costs nothing") {
    RosterWorld w(short_windows(), 5);
    const Play absent = {.miners = {{"m2", MinerManner::kAbsent}}};
    play_round(w.env, w.job, absent);
    play_round(w.env, w.job);
    play_round(w.env, w.job);
    play_round(w.env, w.job, absent);
    CHECK(w.line(3, "m2").reason == Reason::kNoCommit);
    CHECK(w.env.stake("m2") == kPlenty);
    CHECK_FALSE(w.entry("m2")->dropped);
}

TEST_CASE("who commits in every second round alone pays for each absence but the first, and is dropped") {
    RosterWorld w(short_windows(), 8);
    REQUIRE(short_windows().max_missed == 2);
    const Play absent = {.miners = {{"m2", MinerManner::kAbsent}}};
    for (std::uint32_t round = 0; !w.entry("m2")->dropped; ++round) {
        REQUIRE(round < 7);
        play_round(w.env, w.job, round % 2 == 0 ? absent : Play{});
        if (round % 2 != 0 || round == 0) continue;
        CHECK(w.line(round, "m2").reason == Reason::kNoCommitAgain);
        CHECK_FALSE(w.line(round, "m2").lost.is_zero());
    }
}

TEST_CASE("what a long outage takes ends with the membership") {
    Params params = short_windows();
    params.max_missed = 4;
    RosterWorld w(params, 8);
    const Play absent = {.miners = {{"m2", MinerManner::kAbsent}}};
    std::uint64_t lost = 0;
    for (std::uint32_t round = 0; round < 4; ++round) {
        play_round(w.env, w.job, absent);
        lost += w.line(round, "m2").lost.units();
    }
    const std::uint64_t bond = read_slot(w.env.whole(), w.job, 0, 0)->bond.units();
    CHECK(lost == 3 * ((bond * 2 + 9) / 10));
    CHECK(w.entry("m2")->dropped);
    play_job(w.env, w.job);
    CHECK(w.env.stake("m2") == kPlenty - lost);
}

TEST_CASE("the place of one that forfeits, or whose key is revoked, is open while the others go on") {
    RosterWorld w;
    w.refuse(Reason::kRosterFull, "m3");
    SECTION("forfeits") { play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}}); }
    SECTION("revoked") {
        Person& gone = w.env.person("m2");
        w.env.send(gone, NodeRevoke{gone.node_key()});
        play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kAbsent}}});
    }
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRounds);
    w.join("m3");
    w.refuse(Reason::kRosterFull, "m4");
    CHECK_FALSE(w.holds_slot(1, "m3"));  // the slots of this round are dealt
    play_round(w.env, w.job);
    CHECK(w.holds_slot(2, "m3"));
    CHECK(w.holds_slot(2, "m1"));
    play_round(w.env, w.job);
    CHECK(w.line(2, "m3").reason == Reason::kPaid);
}

TEST_CASE("a place is for registered miners that can lock a bond, in its time") {
    RosterWorld w;
    w.refuse(Reason::kNotMiner, "v1");
    w.env.refuse(Reason::kUnknownJob, w.env.person("m3"), JobJoin{bytes_of("no job")});
    const Hash256 other = w.env.post(small_job());
    w.env.refuse(Reason::kWrongPhase, w.env.person("m3"), JobJoin{other});
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
    Person& poor = w.env.miner("m5", 1);
    w.env.refuse(Reason::kInsufficientStake, poor, JobJoin{w.job});
    play_job(w.env, w.job);
    w.refuse(Reason::kJobOver, "m3");
}

TEST_CASE("who joins has a slot's bond locked until slots are dealt: no place is taken for nothing") {
    RosterWorld w;
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
    w.join("m3");
    Person& m3 = w.env.person("m3");
    const Amount locked = w.entry("m3")->locked;
    CHECK_FALSE(locked.is_zero());
    CHECK(read_stake(w.env.state(), m3.node_key()).bonded == locked);
    w.env.refuse(Reason::kInsufficientStake, m3, StakeWithdraw{m3.node_key(), amount(kPlenty)});
    w.env.send(m3, StakeWithdraw{m3.node_key(), amount(kPlenty - locked.units())});
    w.refuse(Reason::kRosterFull, "m4");
    play_round(w.env, w.job);
    CHECK(w.entry("m3")->locked.is_zero());
    REQUIRE(w.holds_slot(2, "m3"));
    play_round(w.env, w.job, {.miners = {{"m3", MinerManner::kSilent}}});
    CHECK(w.entry("m3")->dropped);
}

TEST_CASE("those who join a refill and then want their stake back hold its slots all the same") {
    RosterWorld w;
    play_round(w.env, w.job, kBothAbsent);
    play_round(w.env, w.job, kBothAbsent);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    for (const char* name : {"m3", "m4"}) {
        w.join(name);
        Person& who = w.env.person(name);
        const std::uint64_t free = read_stake(w.env.state(), who.node_key()).free.units();
        w.env.send(who, StakeWithdraw{who.node_key(), amount(free)});
    }
    w.env.let_deadline_pass();
    CHECK(w.env.job(w.job).phase == JobPhase::kRounds);
    CHECK(w.holds_slot(2, "m3"));
    CHECK(w.holds_slot(2, "m4"));
}

TEST_CASE("a job that ends gives joiners back what they locked") {
    RosterWorld w;
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
    w.join("m3");
    w.env.send(w.env.person("buyer"), JobCancel{w.job});
    REQUIRE_FALSE(read_stake(w.env.state(), w.env.person("m3").node_key()).bonded.is_zero());
    play_round(w.env, w.job);
    // At once: it has nothing to answer for in the windows.
    REQUIRE(w.env.job(w.job).phase == JobPhase::kClosing);
    CHECK(read_stake(w.env.state(), w.env.person("m3").node_key()).bonded.is_zero());
    play_job(w.env, w.job);  // the windows
    REQUIRE(w.env.job(w.job).end_reason == Reason::kJobCancelled);
    CHECK(read_stake(w.env.state(), w.env.person("m3").node_key()).bonded.is_zero());
}

TEST_CASE("a miner whom too few others could judge is dealt nothing") {
    Params params = short_windows();
    params.panel_owners_least = 3;
    Env env(params);
    env.miner("m1");
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    // v1's owner runs a miner too: of the other two no third could decide about its work.
    Person& v1 = env.person("v1");
    Person& own = env.person("m2");
    env.send(v1, NodeRegister{own.node_key(), prove_node_key(own.node, v1.owner_key(), env.chain())});
    env.send(v1, MinerRegister{own.node_key(), "127.0.0.1:1"});
    env.send(v1, StakeDeposit{own.node_key(), amount(kPlenty)});
    const Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2", "v3"});
    REQUIRE(env.job(job).phase == JobPhase::kRounds);
    REQUIRE(env.job(job).roster.size() == 2);
    for (const SlotRound& slot : list_slots(env.state(), job, 0)) {
        CHECK(slot.assigned);
        CHECK(slot.miner == env.person("m1").node_key());
    }
}

TEST_CASE("a refill that nobody answers ends the job, and a cancelled one ends at once") {
    RosterWorld w;
    play_round(w.env, w.job, kBothAbsent);
    play_round(w.env, w.job, kBothAbsent);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    // Neither a verifier nor a message of a round finds its phase.
    w.env.refuse(Reason::kWrongPhase, w.env.person("m1"), RoundCommit{w.job, 2, 0, bytes_of("seal")});
    w.env.verifier("v4");
    w.env.refuse(Reason::kWrongPhase, w.env.person("v4"), w.env.enlistment(w.env.person("v4"), w.job));
    SECTION("nobody") {
        w.env.let_deadline_pass();
        CHECK(w.env.job(w.job).end_reason == Reason::kNoMiners);
    }
    SECTION("cancelled") {
        w.env.send(w.env.person("buyer"), JobCancel{w.job});
        CHECK(w.env.job(w.job).end_reason == Reason::kJobCancelled);
    }
    play_job(w.env, w.job);  // the windows of merges
    CHECK(w.env.job(w.job).phase == JobPhase::kEnded);
}

TEST_CASE("members whose bonds wait in windows keep their places, and the job waits for them") {
    Params params = short_windows();
    params.claim_window = 30;
    RosterWorld w(params, 2);
    // Just one bond each: the second round can begin when the first one's window is over.
    w.keep_bonds({"m1", "m2"});
    play_round(w.env, w.job);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    w.refuse(Reason::kRosterFull, "m3");
    w.env.advance_to(w.env.height() + params.claim_window + 1);
    CHECK(w.holds_slot(1, "m1"));
    CHECK(w.holds_slot(1, "m2"));
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
    CHECK(w.line(1, "m1").reason == Reason::kPaid);
}

TEST_CASE("a slot without a commit keeps no bond in a window: its miner is dealt the next one, and pays") {
    RosterWorld w;
    REQUIRE(w.env.params().claim_window > 0);
    w.keep_bonds({"m1", "m2"});
    play_round(w.env, w.job, kBothAbsent);
    CHECK(list_claims(w.env.state(), w.job, 0).empty());
    for (const char* name : {"m1", "m2"}) {
        CHECK(w.line(0, name).reason == Reason::kNoCommit);
        CHECK(w.holds_slot(1, name));
        CHECK(w.entry(name)->missed == kAbsenceWeight);
    }
    play_round(w.env, w.job, kBothAbsent);
    for (const char* name : {"m1", "m2"}) {
        CHECK(w.line(1, name).reason == Reason::kNoCommitAgain);
        CHECK_FALSE(w.line(1, name).lost.is_zero());
        CHECK(w.entry(name)->dropped);
    }
}

TEST_CASE("the place of a winner that takes its stake away is open while the other goes on") {
    Params params = short_windows();
    params.commit_window = params.claim_window + 2;
    RosterWorld w(params);
    w.keep_bonds({"m2"});
    play_round(w.env, w.job);
    CHECK(w.holds_slot(1, "m1"));
    CHECK_FALSE(w.holds_slot(1, "m2"));
    w.refuse(Reason::kRosterFull, "m3");  // its bond waits in a window
    w.env.advance_to(w.env.height() + params.claim_window);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kCommit);
    SECTION("with the bond of a slot it keeps the place") { w.refuse(Reason::kRosterFull, "m3"); }
    SECTION("without it, whoever comes first has the place") {
        w.take_stake("m2");
        CHECK_FALSE(w.entry("m2")->dropped);  // as long as nobody wants it
        w.join("m3");
        CHECK(w.entry("m2")->dropped_for == Reason::kDropped);
        w.refuse(Reason::kRosterFull, "m4");
        w.refuse(Reason::kAlreadyDone, "m2");
        play_job(w.env, w.job);
        CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
        CHECK(w.line(2, "m3").reason == Reason::kPaid);
        CHECK_FALSE(w.holds_slot(2, "m2"));
    }
    SECTION("after a place that nobody holds") {
        w.take_stake("m2");
        w.env.send(w.env.person("m1"), NodeRevoke{w.env.person("m1").node_key()});
        w.join("m3");  // m1's place
        CHECK_FALSE(w.entry("m2")->dropped);
        w.join("m4");
        CHECK(w.entry("m2")->dropped);
    }
}

TEST_CASE("winners that take their stake away when their windows close end no job: others have a refill") {
    RosterWorld w;
    w.keep_bonds({"m1", "m2"});
    play_round(w.env, w.job);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    const std::uint64_t end = w.env.job(w.job).phase_deadline;
    REQUIRE(end == w.env.height() + w.env.params().claim_window);
    w.refuse(Reason::kRosterFull, "m3");
    w.env.advance_to(end);
    const bool revokes = GENERATE(false, true);
    for (const char* name : {"m1", "m2"}) {
        if (!revokes) w.take_stake(name);
        if (revokes) w.env.send(w.env.person(name), NodeRevoke{w.env.person(name).node_key()});
    }
    SECTION("in the block between") {
        w.join("m3");  // the place of one of two at the same ask, or one that nobody has
        CHECK((revokes || w.entry("m1")->dropped != w.entry("m2")->dropped));
    }
    SECTION("after it") {
        w.env.let_deadline_pass();
        REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
        CHECK(w.env.job(w.job).phase_deadline == w.env.height() + w.env.params().storage_window);
        for (const char* name : {"m1", "m2"}) CHECK(w.entry(name)->dropped_for == Reason::kDropped);
        SECTION("somebody comes") { w.join("m3"); }
        SECTION("nobody comes") {
            w.env.let_deadline_pass();
            CHECK(w.env.job(w.job).end_reason == Reason::kNoMiners);
            return;
        }
    }
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
    CHECK(w.line(1, "m3").reason == Reason::kPaid);
}

TEST_CASE("who joins a refill, closes it by that, and revokes its key does not end the job") {
    RosterWorld w;
    play_round(w.env, w.job, kBothAbsent);
    play_round(w.env, w.job, kBothAbsent);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    for (const char* name : {"m3", "m4"}) w.join(name);
    REQUIRE(w.env.job(w.job).phase_deadline == w.env.height());
    for (const char* name : {"m3", "m4"})
        w.env.send(w.env.person(name), NodeRevoke{w.env.person(name).node_key()});
    w.env.let_deadline_pass();
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    CHECK(w.env.job(w.job).phase_deadline == w.env.height() + w.env.params().storage_window);
    w.env.miner("m5");
    w.join("m5");
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
}

TEST_CASE("nobody waits for the windows of members whose keys are revoked") {
    RosterWorld w;
    w.keep_bonds({"m1", "m2"});
    play_round(w.env, w.job);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    for (const char* name : {"m1", "m2"})
        w.env.send(w.env.person(name), NodeRevoke{w.env.person(name).node_key()});
    for (const char* name : {"m3", "m4"}) w.join(name);
    CHECK(w.env.job(w.job).phase_deadline == w.env.height());
}

TEST_CASE("games about the claims of members, begun late, keep no place closed until the job has ended") {
    RosterWorld w;
    w.keep_bonds({"m1", "m2"});
    Person& friend_of_theirs = w.env.verifier("v4");
    play_round(w.env, w.job);
    const std::uint64_t end = w.env.job(w.job).phase_deadline;
    w.env.advance_to(end - 1);
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
        w.env.send(friend_of_theirs,
                   DisputeOpen{w.job, 0, ClaimKind::kSlot, slot, dispute::UnitKind::kSegment, 0});
    }
    w.env.advance_to(end + 1);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    w.refuse(Reason::kRosterFull, "m3");
    for (const Game& game : list_games(w.env.state(), w.job)) w.env.advance_to(game.due);  // they are silent
    for (const char* name : {"m1", "m2"}) CHECK(w.entry(name)->dropped);
    w.join("m3");
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
    CHECK(w.line(1, "m3").reason == Reason::kPaid);
}

TEST_CASE("one voice of a panel accuses, whatever the others say") {
    Env env;
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2"}) env.verifier(name);
    JobSpec spec = small_job();
    const Hash256 job = env.post(spec);
    env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2"});
    Play play = {.miners = {{"m1", MinerManner::kCheats}}};
    SECTION("a panel of one") { play.withhold_links = {"v2"}; }
    SECTION("a panel of which one is silent") { play.verifiers = {{"v2", VerifierManner::kAbsent}}; }
    SECTION("a panel that agrees") {}
    play_round(env, job, play);
    const SettlementLine line = line_of(env, job, 0, LineKind::kSlot, "m1");
    CHECK(line.reason == Reason::kPaidAccused);
    CHECK(line.lost.is_zero());
}

TEST_CASE("a job pays for its bytes and slots, and is refused when the balance lacks the fee") {
    Env env;
    const JobSpec spec = small_job();
    const auto& params = env.params();
    const Amount fee = job_fee(params, spec).value();
    CHECK(fee.units() == params.job_byte_fee.units() * base::encode(spec).size() +
                             params.job_slot_fee.units() * spec.slots * spec.rounds);
    const JobQuote quote = quote_job(params, spec).value();
    CHECK(quote.job_fee == fee);
    const Amount whole = check_budget(quote, spec.market).value();
    Person& buyer = env.person("buyer");
    env.send(buyer,
             NodeRegister{buyer.node_key(), prove_node_key(buyer.node, buyer.owner_key(), env.chain())});
    const JobSubmit submit{spec, buyer.node_key(), "h:1", chain_tip(buyer.secret, spec.rounds)};
    const std::uint64_t spare = env.balance("buyer") - whole.units();
    env.send(buyer, Transfer{env.person("other").owner_key(), amount(spare + 1)});
    env.refuse(Reason::kInsufficientBalance, buyer, submit);
    env.send(env.person("other"), Transfer{buyer.owner_key(), amount(1)});
    const Amount burned = read_supply(env.state()).burned;
    env.send(buyer, submit);
    CHECK(env.balance("buyer") == 0);
    CHECK(read_supply(env.state()).burned == burned.plus(fee));
}

}  // namespace assay::contracts::test
