// SPDX-License-Identifier: Apache-2.0
// What cheating and silence cost, as the specification says it.
#include "contracts/rules/claim/tables.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct CheatWorld {
    Env env;
    Hash256 job;

    explicit CheatWorld(const std::vector<std::string>& verifiers = {"v1", "v2", "v3"},
                        JobSpec spec = small_job(), Params params = short_windows())
        : env(params) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const std::string& name : verifiers) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, verifiers);
        REQUIRE(env.job(job).phase == JobPhase::kRounds);
    }
    SettlementLine slot_line(const std::string& name) { return line_of(env, job, 0, LineKind::kSlot, name); }
};

}  // namespace

TEST_CASE("a wrong root is found: its update stays out, its pay waits, and nobody else's does") {
    for (const MinerManner manner : {MinerManner::kCheats, MinerManner::kBadFinalise}) {
        CheatWorld w;
        play_round(w.env, w.job, {.miners = {{"m2", manner}}});
        const auto line = w.slot_line("m2");
        CHECK(line.reason == Reason::kPaidAccused);
        CHECK(line.lost.is_zero());
        const Claim claim = *read_claim(w.env.state(), {w.job, 0, ClaimKind::kSlot, line.slot});
        CHECK(claim.held == line.paid);
        CHECK_FALSE(claim.bond.is_zero());
        CHECK_FALSE(claim.accusations.empty());
        const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, line.slot);
        CHECK(slot.fault_unit == (manner == MinerManner::kCheats ? 0 : 2));
        CHECK(slot.fault_claimed != slot.fault_found);
        const auto merged = read_round(w.env.whole(), w.job, 0)->merged_slots;
        CHECK(merged == std::vector<std::uint32_t>{1 - line.slot});
        CHECK(w.slot_line("m1").reason == Reason::kPaid);
    }
}

TEST_CASE("silence after the draw costs the bond, and the buyer gets its part") {
    CheatWorld w;
    const std::uint64_t buyer = w.env.balance("buyer");
    const Amount bond = read_slot(w.env.whole(), w.job, 0, slot_of(w.env, w.job, "m2"))->bond;
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
    const auto line = w.slot_line("m2");
    CHECK(line.reason == Reason::kSilentAfterDraw);
    CHECK(line.lost == bond);
    CHECK(line.lost_to_buyer.units() == bond.units() * 400'000 / 1'000'000);
    CHECK(line.lost_burned.units() + line.lost_to_buyer.units() == bond.units());
    CHECK(w.env.balance("buyer") == buyer + line.lost_to_buyer.units());
}

TEST_CASE("a copied seal cannot be opened by the copier") {
    CheatWorld w;
    const Job job = w.env.job(w.job);
    const std::uint32_t victim = slot_of(w.env, w.job, "m1");
    const std::uint32_t copier = slot_of(w.env, w.job, "m2");
    const TraceRecord trace = true_trace(job, 0, victim);
    const Hash256 seal = seal_of(w.env, job, *read_slot(w.env.whole(), w.job, 0, victim), trace);
    w.env.refuse(Reason::kNotYourSlot, w.env.person("m2"), RoundCommit{w.job, 0, victim, seal});
    // Front-run: the copier's seal is in before its victim's.
    w.env.send(w.env.person("m2"), RoundCommit{w.job, 0, copier, seal});
    w.env.send(w.env.person("m1"), RoundCommit{w.job, 0, victim, seal});
    play_links(w.env, w.job, {});
    RoundServe serve = serve_of(w.env, w.job, victim, trace);
    w.env.send(w.env.person("m1"), serve);
    // Having seen the opened seal does not help either.
    serve.slot = copier;
    w.env.refuse(Reason::kSealMismatch, w.env.person("m2"), serve);
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    play_panel(w.env, w.job, {});
    RoundReveal reveal = reveal_of(w.env, w.job, victim, trace);
    w.env.send(w.env.person("m1"), reveal);
    reveal.slot = copier;
    w.env.refuse(Reason::kSealMismatch, w.env.person("m2"), reveal);
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    play_storage(w.env, w.job, {});
    play_merges(w.env, w.job, {});
    CHECK(w.slot_line("m2").reason == Reason::kSilentAfterDraw);
    CHECK(w.slot_line("m1").reason == Reason::kPaid);
}

TEST_CASE("nothing is committed, opened or revealed twice, or outside its phase") {
    CheatWorld w;
    const Job job = w.env.job(w.job);
    Person& m1 = w.env.person("m1");
    const std::uint32_t number = slot_of(w.env, w.job, "m1");
    const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, number);
    const RoundCommit commit{w.job, 0, number, seal_of(w.env, job, slot, true_trace(job, 0, number))};
    w.env.refuse(Reason::kWrongRound, m1, RoundCommit{w.job, 1, number, commit.seal});
    w.env.refuse(Reason::kNoSuchSlot, m1, RoundCommit{w.job, 0, 2, commit.seal});
    w.env.refuse(Reason::kWrongPhase, m1, BeaconOpen{w.job, 0, {}});
    w.env.send(m1, commit);
    w.env.refuse(Reason::kAlreadyDone, m1, commit);
    w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
    w.env.refuse(Reason::kWrongPhase, m1, commit);
    Person& buyer = w.env.person("buyer");
    w.env.refuse(Reason::kNotParticipant, m1, BeaconOpen{w.job, 0, {}});
    w.env.refuse(Reason::kBadLink, buyer, BeaconOpen{w.job, 0, bytes_of("no link")});
    w.env.refuse(Reason::kBadLink, buyer, link_of(buyer, w.env.job(w.job), 1));
    const BeaconOpen link{w.job, 0, chain_link(buyer.secret, 3, 0)};
    w.env.send(buyer, link);
    w.env.refuse(Reason::kAlreadyDone, buyer, link);
    play_links(w.env, w.job, {});
    const RoundServe serve = serve_of(w.env, w.job, number, true_trace(job, 0, number));
    RoundServe foreign_serve = serve;
    foreign_serve.slot = 1 - number;
    w.env.refuse(Reason::kNotYourSlot, m1, foreign_serve);
    w.env.refuse(Reason::kNoSeal, w.env.person("m2"), foreign_serve);
    RoundReveal reveal = reveal_of(w.env, w.job, number, true_trace(job, 0, number));
    w.env.refuse(Reason::kWrongPhase, m1, reveal);
    w.env.send(m1, serve);
    w.env.refuse(Reason::kWrongPhase, m1, serve);  // the last one closed the phase
    play_panel(w.env, w.job, {});
    reveal.update_blob = {};
    w.env.refuse(Reason::kBadTrace, m1, reveal);  // no update named, and the slot did not diverge
    reveal.update_blob = bytes_of("update");
    reveal.carried_blob = bytes_of("head");
    w.env.refuse(Reason::kBadTrace, m1, reveal);  // this job carries nothing
    reveal.carried_blob = {};
    reveal.salt = bytes_of("other salt");
    w.env.refuse(Reason::kSealMismatch, m1, reveal);
    reveal.salt = slot_salt();
    RoundReveal foreign = reveal;
    foreign.slot = 1 - number;
    w.env.refuse(Reason::kNotYourSlot, m1, foreign);
    w.env.refuse(Reason::kNoSeal, w.env.person("m2"), foreign);
    w.env.send(m1, reveal);
    w.env.refuse(Reason::kWrongPhase, m1, reveal);  // the last reveal closed the phase
}

TEST_CASE("work is committed at the phase's last height and refused one later") {
    CheatWorld w;
    const Job job = w.env.job(w.job);
    const std::uint32_t number = slot_of(w.env, w.job, "m1");
    const SlotRound slot = *read_slot(w.env.whole(), w.job, 0, number);
    const RoundCommit commit{w.job, 0, number, seal_of(w.env, job, slot, true_trace(job, 0, number))};
    w.env.advance_to(w.env.round(w.job).phase_deadline);
    w.env.send(w.env.person("m1"), commit);
    w.env.next_block();
    w.env.refuse(Reason::kWrongPhase, w.env.person("m2"), RoundCommit{w.job, 0, 1 - number, commit.seal});
}

TEST_CASE("a withheld link puts every slot at rate 1, at the cost of whoever withheld it") {
    Params params = short_windows();
    params.probation_rounds = 0;
    JobSpec spec = small_job();
    spec.security.audit_threshold = UINT64_MAX / 10'000;
    CheatWorld w({"v1", "v2", "v3"}, spec, params);
    const std::uint64_t stake = w.env.stake("v1");
    const Amount bond = w.env.round(w.job).links.empty() ? Amount{} : w.env.job(w.job).beacon.front().bond;
    REQUIRE_FALSE(bond.is_zero());
    play_round(w.env, w.job, {.withhold_links = {"v1"}});
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) {
        CHECK(slot.drawn_units == std::vector<std::uint32_t>{0, 1, 2});
    }
    const auto line = line_of(w.env, w.job, 0, LineKind::kLink, "v1");
    CHECK(line.reason == Reason::kLinkWithheld);
    CHECK(line.lost == bond);
    CHECK_FALSE(line.lost_to_escrow.is_zero());
    CHECK(line.lost_to_escrow.units() + line.lost_burned.units() == bond.units());
    CHECK(w.env.stake("v1") == stake - bond.units());
    // The others' chains go on, each with the link behind those of both tries.
    play_round(w.env, w.job);
    CHECK_FALSE(read_round(w.env.whole(), w.job, 1)->link_missing);
    CHECK(read_slot(w.env.whole(), w.job, 1, 0)->drawn_units == std::vector<std::uint32_t>{2});
}

TEST_CASE("a withheld bit cannot spare a cheat") {
    Params params = short_windows();
    params.probation_rounds = 0;
    JobSpec spec = small_job();
    spec.security.audit_threshold = UINT64_MAX / 10'000;
    CheatWorld w({"v1", "v2", "v3"}, spec, params);
    play_round(w.env, w.job,
               {.miners = {{"m1", MinerManner::kCheats}}, .withhold_links = {"buyer", "sequencer"}});
    CHECK(w.slot_line("m1").reason == Reason::kPaidAccused);
    CHECK(line_of(w.env, w.job, 0, LineKind::kLink, "buyer").reason == Reason::kLinkWithheld);
}

TEST_CASE("who withheld a link is no longer waited for") {
    CheatWorld w;
    const Play play = {.withhold_links = {"sequencer"}};
    play_round(w.env, w.job, play);
    CHECK(read_round(w.env.whole(), w.job, 0)->link_missing);
    const Round round = *read_round(w.env.whole(), w.job, 1);
    for (const BeaconLink& link : round.links) {
        CHECK(link.node != w.env.person("sequencer").node_key());
    }
    play_round(w.env, w.job);
    CHECK_FALSE(read_round(w.env.whole(), w.job, 1)->link_missing);
}

}  // namespace assay::contracts::test
