// SPDX-License-Identifier: Apache-2.0
// Rounds as they should go, and what they leave behind.
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct RoundWorld {
    Env env;
    Hash256 job;

    explicit RoundWorld(JobSpec spec = small_job(), Params params = short_windows()) : env(params) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    }
};

}  // namespace

TEST_CASE("an honest job pays its miners and verifiers from escrow and refunds the rest") {
    RoundWorld w;
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRounds);
    const std::uint64_t buyer = w.env.balance("buyer");
    play_job(w.env, w.job);
    const Job job = w.env.job(w.job);
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == 3);
    CHECK(job.escrow.is_zero());
    CHECK(job.spent.units() + job.refunded.units() == job.spec.market.budget.units());
    const Amount link = link_bond(params_of(w.env.whole(), job), job.spec, job.slot_work).value();
    CHECK(w.env.balance("buyer") == buyer + job.refunded.units() + link.units());
    // Two asks for two slots: nobody was rejected, so the cap is the price.
    CHECK(job.auction.clearing_price == job.spec.market.max_price);
    const std::uint64_t pay = job.slot_work * job.auction.clearing_price.units();
    for (std::uint32_t round = 0; round < 3; ++round) {
        const auto line = line_of(w.env, w.job, round, LineKind::kSlot, "m1");
        CHECK(line.reason == Reason::kPaid);
        CHECK(line.paid.units() == pay);
    }
    CHECK(read_miner(w.env.state(), w.env.person("m1").node_key())->earned.units() == 3 * pay);
    CHECK(w.env.stake("m1") == kPlenty);
    CHECK(read_stake(w.env.state(), w.env.person("v1").node_key()).bonded.is_zero());
}

TEST_CASE("the lines of a round add up to what left the escrow") {
    RoundWorld w;
    play_job(w.env, w.job, {.miners = {{"m2", MinerManner::kCheats}}});
    std::uint64_t from_escrow = 0;
    const Job job = w.env.job(w.job);
    for (std::uint32_t round = 0; round < job.round; ++round) {
        for (const SettlementLine& line : list_settlement(w.env.whole(), w.job, round)) {
            CHECK(line.reason != Reason::kNone);
            CHECK(line.paid.units() ==
                  line.from_escrow.units() + line.from_prepaid.units() + line.from_slot.units());
            CHECK(line.lost.units() ==
                  line.lost_to_buyer.units() + line.lost_to_escrow.units() + line.lost_burned.units());
            from_escrow += line.from_escrow.units();
        }
    }
    CHECK(from_escrow == job.spent.units());
    CHECK(job.spent.units() + job.refunded.units() == job.spec.market.budget.units());
}

TEST_CASE(
    "a round's record names its base, its merged slots and the result that the next round starts from") {
    JobSpec spec = small_job();
    const bool given =
        GENERATE(false, true);  // initial weights from the seed, or a file that the buyer names
    if (given) spec.initial_blob = bytes_of("given weights");
    RoundWorld w(spec);
    REQUIRE(w.env.job(w.job).base_blob == spec.initial_blob);
    play_job(w.env, w.job);
    Hash256 base = w.env.job(w.job).spec.initial_root;
    Hash256 blob = spec.initial_blob;
    for (std::uint32_t number = 0; number < 3; ++number) {
        const Round round = *read_round(w.env.whole(), w.job, number);
        CHECK(round.base_root == base);
        CHECK(round.base_blob == blob);
        CHECK(round.merged);
        CHECK(round.merged_slots == std::vector<std::uint32_t>{0, 1});
        CHECK(merge_slots(w.env.whole(), w.job, number) == round.merged_slots);
        CHECK(round.result == true_merge(w.env.whole(), w.env.job(w.job), number));
        base = round.result.base_root;
        blob = round.result.base_blob;
    }
    CHECK(w.env.job(w.job).base_root == base);
    CHECK(w.env.job(w.job).base_blob == blob);
}

TEST_CASE("newcomers are audited in every unit until their probation is over") {
    JobSpec spec = small_job();
    spec.rounds = 6;
    spec.security.audit_threshold = UINT64_MAX / 10'000;  // past probation, practically only `finalise`
    RoundWorld w(spec);
    play_job(w.env, w.job);
    for (std::uint32_t round = 0; round < 6; ++round) {
        for (const SlotRound& slot : list_slots(w.env.whole(), w.job, round)) {
            CHECK(slot.newcomer == (round < 3));
            const std::vector<std::uint32_t> all = {0, 1, 2};
            CHECK(slot.drawn_units == (round < 3 ? all : std::vector<std::uint32_t>{2}));
        }
    }
}

TEST_CASE("past probation finalise is drawn at its own rate, and a slot of which nothing is drawn is paid") {
    JobSpec spec = small_job();
    spec.rounds = 6;
    const auto bond = [&](std::uint64_t segments, std::uint64_t finalise, Audited audited) {
        spec.security.audit_threshold = segments;
        spec.security.finalise_threshold = finalise;
        return slot_bond({}, spec, amount(500), 1'000'000, audited).value();
    };
    const std::uint64_t rarely = UINT64_MAX / 10'000;
    // The bond is that of the unit that is drawn least.
    CHECK(bond(UINT64_MAX / 10, rarely, Audited::kAtRate) == bond(rarely, UINT64_MAX, Audited::kAtRate));
    CHECK(bond(UINT64_MAX / 10, UINT64_MAX, Audited::kAtRate) < bond(rarely, UINT64_MAX, Audited::kAtRate));
    CHECK(bond(rarely, rarely, Audited::kAlways) == bond(rarely, UINT64_MAX, Audited::kAlways));
    (void)bond(rarely, rarely, Audited::kAtRate);
    RoundWorld w(spec);
    play_job(w.env, w.job);
    for (std::uint32_t round = 0; round < 6; ++round) {
        for (const SlotRound& slot : list_slots(w.env.state(), w.job, round)) {
            const std::vector<std::uint32_t> all = {0, 1, 2};
            CHECK(slot.drawn_units == (round < 3 ? all : std::vector<std::uint32_t>{}));
            CHECK(slot.verdict == Reason::kPaid);
        }
    }
    CHECK(w.env.job(w.job).end_reason == Reason::kJobComplete);
}

TEST_CASE("a newcomer's fee pays its own audits first, and what is left comes back after probation") {
    RoundWorld w;
    const auto fee = w.env.params().miner_fee;
    CHECK(read_miner(w.env.state(), w.env.person("m1").node_key())->prepaid == fee);
    const std::uint64_t before = w.env.balance("m1");
    play_round(w.env, w.job);
    for (const SettlementLine& line : list_settlement(w.env.whole(), w.job, 0)) {
        if (line.kind != LineKind::kAudit) continue;
        CHECK(line.reason == Reason::kPaidAudit);
        CHECK(line.from_prepaid == line.paid);
        CHECK(line.from_escrow.is_zero());
    }
    play_job(w.env, w.job);
    CHECK(read_miner(w.env.state(), w.env.person("m1").node_key())->prepaid.is_zero());
    std::uint64_t used = 0;
    for (std::uint32_t round = 0; round < 3; ++round) {
        for (const auto& l : list_settlement(w.env.whole(), w.job, round)) {
            const bool about_m1 =
                l.kind == LineKind::kAudit &&
                read_slot(w.env.whole(), w.job, round, l.slot)->miner == w.env.person("m1").node_key();
            if (about_m1) used += l.from_prepaid.units();
        }
    }
    const std::uint64_t earned = read_miner(w.env.state(), w.env.person("m1").node_key())->earned.units();
    CHECK(w.env.balance("m1") == before + earned + fee.units() - used);
}

TEST_CASE("a divergence claimed rightly is paid and left out of the merge") {
    JobSpec spec = small_job();
    spec.seed = kDivergingSeed;
    RoundWorld w(spec);
    play_round(w.env, w.job);
    CHECK(read_slot(w.env.whole(), w.job, 0, 0)->verdict == Reason::kPaidDiverged);
    CHECK(read_slot(w.env.whole(), w.job, 0, 1)->verdict == Reason::kPaid);
    CHECK(read_round(w.env.whole(), w.job, 0)->merged_slots == std::vector<std::uint32_t>{1});
}

TEST_CASE("a miner gone before the beacon is unpaid without loss, and dropped when it stays away") {
    RoundWorld w;
    const Play play = {.miners = {{"m2", MinerManner::kAbsent}}};
    play_round(w.env, w.job, play);
    const auto line = line_of(w.env, w.job, 0, LineKind::kSlot, "m2");
    CHECK(line.reason == Reason::kNoCommit);
    CHECK(line.lost.is_zero());
    CHECK(w.env.stake("m2") == kPlenty);
    play_round(w.env, w.job, play);
    // Two misses in a row: both slots are m1's now.
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 2)) {
        CHECK(slot.miner == w.env.person("m1").node_key());
    }
    const Job job = w.env.job(w.job);
    for (const RosterEntry& entry : job.roster) {
        if (entry.node == w.env.person("m2").node_key()) CHECK(entry.dropped_for == Reason::kDropped);
    }
}

TEST_CASE("slots follow measured speed after the first round") {
    JobSpec spec = small_job();
    spec.slots = 4;
    RoundWorld w(spec);
    // One each in turn: two each in the first round.
    REQUIRE(w.env.job(w.job).round == 0);
    for (std::uint32_t number = 0; number < 4; ++number) {
        const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, number);
        Person& who = w.env.by_node(slot.miner);
        if (who.name != "m1") continue;
        const Job job = w.env.job(w.job);
        w.env.send(who, RoundCommit{w.job, 0, number, seal_of(w.env, job, slot, true_trace(job, 0, number))});
    }
    w.env.advance_to(w.env.height() + 6);
    for (std::uint32_t number = 0; number < 4; ++number) {
        const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, number);
        if (slot.committed) continue;
        const Job job = w.env.job(w.job);
        w.env.send(w.env.by_node(slot.miner),
                   RoundCommit{w.job, 0, number, seal_of(w.env, job, slot, true_trace(job, 0, number))});
    }
    play_links(w.env, w.job, {});
    play_verdicts(w.env, w.job, {});
    play_merges(w.env, w.job, {});
    int of_m1 = 0;
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 1)) {
        if (slot.miner == w.env.person("m1").node_key()) ++of_m1;
    }
    CHECK(of_m1 == 3);  // six times as fast: 3.43 of 4 slots, rounded by largest remainder
}

TEST_CASE("a round ends within the sum of its windows, whoever is gone") {
    RoundWorld w;
    for (const char* who : {"v1", "v2", "v3"}) w.env.person(who);
    std::uint64_t limit = w.env.height();
    const Params p = w.env.params();
    limit += p.commit_window + p.beacon_window + p.serve_window + p.reveal_window + p.storage_window +
             2 * (p.audit_seal_window + p.audit_open_window) +
             2 * (p.merge_seal_window + p.merge_open_window) + 13;
    while (w.env.job(w.job).phase == JobPhase::kRounds) {
        w.env.let_deadline_pass();
        REQUIRE(w.env.height() <= limit);
    }
    // Its places are open, and nobody takes one.
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    play_job(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kNoMiners);
    w.env.next_block();  // its records leave
    CHECK(next_deadline(w.env.state()) == std::nullopt);
}

}  // namespace assay::contracts::test
