// SPDX-License-Identifier: Apache-2.0
// Who holds the bytes of a slot, and what becomes of one that nobody holds.
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct StorageWorld {
    Env env;
    Hash256 job;

    explicit StorageWorld(JobSpec spec = small_job()) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    void to_storage(const Play& play = {}) {
        play_commits(env, job, play);
        play_links(env, job, play);
        play_serves(env, job, play);
        play_panel(env, job, play);
        play_reveals(env, job, play);
        REQUIRE(env.round(job).phase == RoundPhase::kStore);
    }
    void post(const std::string& name, const std::vector<std::uint32_t>& held) {
        env.send(env.person(name), StorageBitmap{job, env.job(job).round, storage_bits(2, held)});
    }
    EnlistedVerifier enlisted(const std::string& name) {
        return read_enlisted(env.state(), job, env.person(name).node_key()).value();
    }
};

}  // namespace

TEST_CASE("an update that no majority holds stays out: unpaid, without forfeit, and nothing is carried on") {
    JobSpec spec = small_job();
    spec.inner_state = program::InnerState::kCarried;
    StorageWorld w(spec);
    const std::uint32_t lost = slot_of(w.env, w.job, "m2");
    const Amount escrow = w.env.job(w.job).escrow;
    play_round(w.env, w.job, {.lost_updates = {lost}});
    const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, lost);
    CHECK(slot.verdict == Reason::kNotStored);
    CHECK_FALSE(slot.stored);
    const SettlementLine line = line_of(w.env, w.job, 0, LineKind::kSlot, "m2");
    CHECK(line.paid.is_zero());
    CHECK(line.lost.is_zero());
    CHECK(w.env.stake("m2") == kPlenty);
    CHECK(read_round(w.env.whole(), w.job, 0)->merged_slots == std::vector<std::uint32_t>{1 - lost});
    CHECK(carried_in(w.env.state(), w.job, 1, lost).nothing());
    CHECK_FALSE(carried_in(w.env.state(), w.job, 1, 1 - lost).nothing());
    CHECK(line_of(w.env, w.job, 0, LineKind::kSlot, "m1").reason == Reason::kPaid);
    CHECK(w.env.job(w.job).escrow < escrow);
    // It goes on with nothing in the next round, and is paid there.
    play_round(w.env, w.job);
    CHECK(read_slot(w.env.whole(), w.job, 1, lost)->verdict == Reason::kPaid);
}

TEST_CASE(
    "more than half of the locked stake must hold a slot, and a majority for every slot ends the phase") {
    StorageWorld w;
    w.to_storage();
    w.post("v1", {0, 1});
    CHECK(w.env.round(w.job).phase == RoundPhase::kStore);
    w.post("v2", {0});
    CHECK(w.env.round(w.job).phase == RoundPhase::kStore);  // one of three holds slot 1
    w.post("v3", {1});
    CHECK(w.env.round(w.job).phase == RoundPhase::kMergeSeal);
    for (const std::uint32_t slot : {0U, 1U}) CHECK(read_slot(w.env.state(), w.job, 0, slot)->stored);
    CHECK(merge_slots(w.env.state(), w.job, 0) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("a bitmap has the slots' length, names what may be stored, and is posted once, in its phase") {
    StorageWorld w;
    const std::uint32_t silent = slot_of(w.env, w.job, "m2");
    const Play play = {.miners = {{"m2", MinerManner::kSilent}}};
    play_commits(w.env, w.job, play);
    Person& v1 = w.env.person("v1");
    const StorageBitmap good{w.job, 0, storage_bits(2, {1 - silent})};
    w.env.refuse(Reason::kWrongPhase, v1, good);
    play_links(w.env, w.job, play);
    play_serves(w.env, w.job, play);
    play_panel(w.env, w.job, play);
    play_reveals(w.env, w.job, play);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kStore);
    const auto refuse = [&](const Bytes& bits) {
        w.env.refuse(Reason::kBadBitmap, v1, StorageBitmap{w.job, 0, bits});
    };
    refuse({});
    refuse({1, 0});
    refuse({4});  // there are two slots
    refuse(storage_bits(2, {silent}));
    w.env.refuse(Reason::kNotParticipant, w.env.person("m1"), good);
    w.env.refuse(Reason::kNotParticipant, w.env.person("sequencer"), good);
    w.env.refuse(Reason::kNotParticipant, w.env.person("buyer"), good);
    w.env.refuse(Reason::kWrongRound, v1, StorageBitmap{w.job, 1, good.bits});
    w.env.send(v1, good);
    w.env.refuse(Reason::kAlreadyDone, v1, good);
}

TEST_CASE("a miner's owner has no say about its own slots, neither for nor against") {
    Env env;
    env.miner("m1");
    env.verifier("v1");
    Person& v1 = env.person("v1");
    Person& m5 = env.person("m5");
    env.send(v1, NodeRegister{m5.node_key(), prove_node_key(m5.node, v1.owner_key(), env.chain())});
    env.send(v1, MinerRegister{m5.node_key(), "127.0.0.1:1"});
    env.send(v1, StakeDeposit{m5.node_key(), amount(kPlenty)});
    for (const char* name : {"v2", "v3"}) env.verifier(name);
    const Hash256 job = env.post(small_job());
    env.enlist("v1", job, 500'000'000);  // more than the others together
    env.hold_auction(job, {{"m1", 1}, {"m5", 1}}, {"v2", "v3"});
    play_commits(env, job, {});
    play_links(env, job, {});
    play_serves(env, job, {});
    play_panel(env, job, {});
    play_redraws(env, job, {});
    play_reveals(env, job, {});
    REQUIRE(env.round(job).phase == RoundPhase::kStore);
    const std::uint32_t own = read_slot(env.state(), job, 0, 0)->miner == m5.node_key() ? 0 : 1;
    CHECK(storable_slots(env.state(), job, 0, v1.node_key()) == std::vector<std::uint32_t>{1 - own});
    env.refuse(Reason::kBadBitmap, v1, StorageBitmap{job, 0, storage_bits(2, {0, 1})});
    env.send(v1, StorageBitmap{job, 0, storage_bits(2, {1 - own})});
    env.send(env.person("v2"), StorageBitmap{job, 0, storage_bits(2, {own})});
    env.send(env.person("v3"), StorageBitmap{job, 0, storage_bits(2, {own})});
    // Of its own slot the two others are all the stake there is.
    CHECK(read_slot(env.state(), job, 0, own)->stored);
    CHECK(read_slot(env.state(), job, 0, 1 - own)->stored);
}

TEST_CASE("a verifier without a bitmap misses the round only where its word was lacking") {
    for (const bool lacking : {true, false}) {
        CAPTURE(lacking);
        StorageWorld w;
        Play play = {.holders = {{"v3", HolderManner::kAbsent}}};
        if (lacking) play.holders["v2"] = HolderManner::kEmpty;
        play_round(w.env, w.job, play);
        CHECK(read_slot(w.env.whole(), w.job, 0, 0)->verdict ==
              (lacking ? Reason::kNotStored : Reason::kPaid));
        CHECK((w.enlisted("v3").missed > 0) == lacking);
        CHECK(w.enlisted("v2").missed == 0);
    }
}

TEST_CASE("a verifier is not missed where only its own owner's slot was lacking") {
    Env env;
    env.miner("m1");
    env.verifier("v1");
    Person& v1 = env.person("v1");
    Person& m5 = env.person("m5");
    env.send(v1, NodeRegister{m5.node_key(), prove_node_key(m5.node, v1.owner_key(), env.chain())});
    env.send(v1, MinerRegister{m5.node_key(), "127.0.0.1:1"});
    env.send(v1, StakeDeposit{m5.node_key(), amount(kPlenty)});
    for (const char* name : {"v2", "v3"}) env.verifier(name);
    const Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 1}, {"m5", 1}}, {"v1", "v2", "v3"});
    play_commits(env, job, {});
    play_links(env, job, {});
    play_serves(env, job, {});
    play_panel(env, job, {});
    play_redraws(env, job, {});
    play_reveals(env, job, {});
    REQUIRE(env.round(job).phase == RoundPhase::kStore);
    const std::uint32_t own = read_slot(env.state(), job, 0, 0)->miner == m5.node_key() ? 0 : 1;
    for (const char* name : {"v2", "v3"})
        env.send(env.person(name), StorageBitmap{job, 0, storage_bits(2, {1 - own})});
    while (env.round(job).phase == RoundPhase::kStore) env.let_deadline_pass();
    play_merges(env, job, {});
    REQUIRE(read_slot(env.whole(), job, 0, own)->verdict == Reason::kNotStored);
    for (const EnlistedVerifier& verifier : env.job(job).verifiers) CHECK(verifier.missed == 0);
}

TEST_CASE("the phase ends at its height whoever is missing, and asks nothing about slots that diverged") {
    JobSpec spec = small_job();
    spec.seed = kDivergingSeed;
    StorageWorld w(spec);
    w.to_storage();
    CHECK(storable_slots(w.env.state(), w.job, 0, w.env.person("v1").node_key()) ==
          std::vector<std::uint32_t>{1});
    const std::uint64_t last = w.env.round(w.job).phase_deadline;
    CHECK(last == w.env.height() + w.env.params().storage_window);
    w.env.advance_to(last + 1);
    // Nothing can be merged: the round is settled at once.
    CHECK(read_round(w.env.whole(), w.job, 0)->phase == RoundPhase::kSettled);
    CHECK(read_slot(w.env.state(), w.job, 0, 0)->verdict == Reason::kPaidDiverged);
    CHECK(read_slot(w.env.state(), w.job, 0, 1)->verdict == Reason::kNotStored);
}

}  // namespace assay::contracts::test
