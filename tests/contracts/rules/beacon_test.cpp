// SPDX-License-Identifier: Apache-2.0
// The beacon phase: link bonds, tries, and what a withheld link costs whom.
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/panel.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const std::vector<std::string> kMembers = {"buyer", "v1", "v2", "v3", "sequencer"};

/// A job audited next to never, by proven miners alone, so that only a void try brings an audit.
struct BeaconWorld {
    Params params = short_windows();
    Env env;
    Hash256 job;

    BeaconWorld() : BeaconWorld(small_job()) {}
    explicit BeaconWorld(JobSpec spec) : params(seasoned()), env(params) {
        spec.security.audit_threshold = UINT64_MAX / 10'000;
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
    }

    static Params seasoned() {
        Params params = short_windows();
        params.probation_rounds = 0;
        params.link_penalty = amount(1);  // the audits cost more
        return params;
    }

    Amount bond() const {
        const Job terms = env.job(job);
        return link_bond(params, terms.spec, terms.slot_work).value();
    }
    BeaconMember member(const std::string& name) {
        return *read_beacon_member(env.whole(), job, env.person(name).node_key());
    }
    BeaconLink link(const std::string& name, std::uint32_t round = 0) {
        return *read_beacon_link(env.whole(), job, round, env.person(name).node_key());
    }
    void let_window_pass() { env.advance_to(env.round(job).phase_deadline + 1); }
    void finish_round() {
        play_verdicts(env, job, {});
        play_merges(env, job, {});
    }
};

}  // namespace

TEST_CASE("every member of a beacon locks a link bond, which comes back when the job ends") {
    BeaconWorld w;
    const Amount bond = w.bond();
    const Job job = w.env.job(w.job);
    // Three audits of every unit of every slot, at the cap, and of each slot a twenty-seventh of what another
    // draw could save and win: its bond, its pay and the gain bound.
    const Amount cap = job.spec.market.max_price;
    const Amount all = full_audit_cost(w.params, job.spec, cap, job.slot_work).value();
    const Amount slot = slot_bond(w.params, job.spec, cap, job.slot_work, Audited::kAtRate)
                            ->plus(slot_pay(cap, job.slot_work).value())
                            ->plus(job.spec.security.gain_bound)
                            .value();
    const double again = static_cast<double>(slot.units()) * job.spec.slots / 27;
    CHECK(std::abs(static_cast<double>(bond.units() - all.units()) - again) < 1e-5 * again + 1);
    REQUIRE(bond > w.params.link_penalty);
    for (const std::string& name : kMembers) CHECK(w.member(name).bond == bond);
    const std::uint64_t balance =
        read_account(w.env.state(), w.env.person("buyer").owner_key()).balance.units();
    const Amount fee = *job_fee(w.params, job.spec);
    CHECK(balance == 100 * kPlenty - job.spec.market.budget.units() - bond.units() - fee.units());
    CHECK(w.env.stake("v1") == kPlenty);
    play_job(w.env, w.job);
    const Job ended = *read_job(w.env.whole(), w.job);
    CHECK(ended.end_reason == Reason::kJobComplete);
    for (const BeaconMember& member : ended.beacon) {
        CHECK(member.bond.is_zero());
        CHECK(member.used == job.spec.rounds);
    }
    const Stake stake = read_stake(w.env.state(), w.env.person("v1").node_key());
    CHECK(stake.free.units() == kPlenty);
    CHECK(stake.bonded.is_zero());
    CHECK(read_stake(w.env.state(), w.env.person("sequencer").node_key()).free == bond);
    CHECK(read_account(w.env.state(), w.env.person("buyer").owner_key()).balance.units() ==
          balance + bond.units() + ended.refunded.units());
}

TEST_CASE("who cannot cover the link bond is no member") {
    BeaconWorld w;
    const Hash256 next = w.env.post(small_job());
    const Job terms = w.env.job(next);
    const Amount bond = link_bond(w.params, terms.spec, terms.slot_work).value();
    Person& sequencer = w.env.person("sequencer");
    w.env.refuse(Reason::kInsufficientStake, sequencer,
                 ValidatorEnlist{next, chain_tip(sequencer.secret, 3)});
    Person& v4 = w.env.verifier("v4", 1);
    const VerifierEnlist tx = w.env.enlistment(v4, next);
    w.env.send(v4, StakeDeposit{v4.node_key(), *tx.stake.plus(bond)->minus(amount(2))});
    w.env.refuse(Reason::kInsufficientStake, v4, tx);
    w.env.send(v4, StakeDeposit{v4.node_key(), amount(1)});
    w.env.send(v4, tx);
    CHECK(read_stake(w.env.state(), v4.node_key()).free.is_zero());
    Person& buyer = w.env.person("m3");  // an owner with as much as budget and bond, less one
    JobSpec spec = small_job();
    const Amount balance = read_account(w.env.state(), buyer.owner_key()).balance;
    spec.market.budget = *balance.minus(bond)->plus(amount(1));
    w.env.refuse(Reason::kInsufficientBalance, buyer,
                 JobSubmit{spec, buyer.node_key(), "h:1", chain_tip(buyer.secret, spec.rounds)});
}

TEST_CASE("a missing link voids the try: the others open their next link in a new window") {
    BeaconWorld w;
    play_commits(w.env, w.job, {});
    const Job job = w.env.job(w.job);
    const Amount bond = w.bond();
    open_links(w.env, w.job, {"v1"});
    Person& v2 = w.env.person("v2");
    w.env.refuse(Reason::kAlreadyDone, v2, link_of(v2, job, 0));
    const Hash256 first = w.link("v2").link;
    w.let_window_pass();
    const Round round = w.env.round(w.job);
    REQUIRE(round.phase == RoundPhase::kBeacon);
    CHECK(round.beacon.is_zero());
    CHECK(round.link_missing);
    CHECK(round.phase_deadline > w.env.height());
    CHECK((w.link("v1").withheld && w.link("v1").held == bond));
    CHECK((w.member("v1").dropped && w.member("v1").bond.is_zero()));
    CHECK((w.link("v2").index == 1 && !w.link("v2").opened));
    // Too late for the void try: neither who withheld its link nor who opened it takes part in it again.
    Person& v1 = w.env.person("v1");
    w.env.refuse(Reason::kVoidTry, v1, link_of(v1, job, 0));
    w.env.refuse(Reason::kVoidTry, v1, link_of(v1, job, 1));
    w.env.refuse(Reason::kVoidTry, v2, link_of(v2, job, 0));
    w.env.refuse(Reason::kBadLink, v2, link_of(v2, job, 2));
    w.env.refuse(Reason::kBadLink, v2, BeaconOpen{w.job, 0, first, 1});
    open_links(w.env, w.job, {});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kServe);
    base::Hasher hasher("assay/beacon/v2");
    hasher.add(w.job).add_u64(0).add(job.last_beacon);
    for (const BeaconLink& link : w.env.round(w.job).links)
        if (!link.withheld) hasher.add(link.node.view()).add(link.link);
    CHECK(w.env.round(w.job).beacon == hasher.finish());
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) {
        CHECK(slot.drawn_units == std::vector<std::uint32_t>{0, 1, 2});
        for (const PublicKey& judge : slot.verifiers) CHECK(judge != v1.node_key());
    }
    w.finish_round();
    const auto line = line_of(w.env, w.job, 0, LineKind::kLink, "v1");
    CHECK(line.lost == bond);
    CHECK(line.lost_to_escrow > Amount{});
    CHECK(w.link("v1").held.is_zero());
    play_job(w.env, w.job);
    CHECK(read_job(w.env.whole(), w.job)->end_reason == Reason::kJobComplete);
    CHECK_FALSE(read_round(w.env.whole(), w.job, 1)->link_missing);
    CHECK(w.member("v2").used == job.spec.rounds + 1);
}

TEST_CASE("m holders of links have m + 1 tries, and each costs a link bond") {
    BeaconWorld w;
    play_commits(w.env, w.job, {});
    const Job job = w.env.job(w.job);
    const Amount bond = w.bond();
    std::vector<std::string> left = kMembers;
    while (left.size() > 1) {
        const std::string last = left.back();
        open_links(w.env, w.job, {last});
        REQUIRE(w.env.round(w.job).phase == RoundPhase::kBeacon);
        w.let_window_pass();
        REQUIRE(w.env.round(w.job).phase == RoundPhase::kBeacon);
        CHECK(w.link(last).held == bond);
        left.pop_back();
    }
    open_links(w.env, w.job, {});
    const Round round = w.env.round(w.job);
    REQUIRE(round.phase == RoundPhase::kServe);
    CHECK(w.link("buyer").index == kMembers.size() - 1);
    CHECK(w.link("buyer").opened);
    // Nobody whose owner withheld a link judges, unless that is half of the weight: here it is all.
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) CHECK(slot.verifiers.size() == 3);
}

TEST_CASE("after a missing link every panel is the largest") {
    BeaconWorld w;
    play_round(w.env, w.job, {.withhold_links = {"buyer"}});
    const Round round = *read_round(w.env.whole(), w.job, 0);
    REQUIRE(round.link_missing);
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) CHECK(slot.panel == panel_most());
    const Round next = w.env.round(w.job);
    CHECK_FALSE(next.link_missing);
}

TEST_CASE("with no link at all the beacon is made of the commits, and the round is at rate 1") {
    BeaconWorld w;
    play_commits(w.env, w.job, {});
    const Job job = w.env.job(w.job);
    const Supply before = read_supply(w.env.state());
    w.let_window_pass();
    const Round round = w.env.round(w.job);
    REQUIRE(round.phase == RoundPhase::kServe);
    base::Hasher hasher("assay/beacon/none/v1");
    hasher.add(w.job).add_u64(0).add(job.last_beacon);
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0))
        if (slot.committed) hasher.add_u64(slot.slot).add(slot.seal);
    CHECK(round.beacon == hasher.finish());
    CHECK(round.link_missing);
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0))
        CHECK(slot.drawn_units == std::vector<std::uint32_t>{0, 1, 2});
    const Supply after = read_supply(w.env.state());
    CHECK(before.bonds.minus(after.bonds) == w.bond().times(4, 1, base::Rounding::kDown));
    // Nobody could judge, so that nothing was merged and every link bond is burned.
    while (w.env.job(w.job).phase == JobPhase::kRounds) w.let_window_pass();
    for (const std::string& name : kMembers) {
        const auto line = line_of(w.env, w.job, 0, LineKind::kLink, name);
        CHECK(line.lost == w.bond());
        CHECK(line.lost_burned == w.bond());
    }
    CHECK_FALSE(read_round(w.env.whole(), w.job, 0)->merged);
    // Its miners opened no trace and are out; nobody takes their places.
    REQUIRE(w.env.job(w.job).phase == JobPhase::kRefill);
    w.env.let_deadline_pass();
    CHECK(read_job(w.env.whole(), w.job)->end_reason == Reason::kNoMiners);
}

TEST_CASE("lost link bonds pay what the audits at rate 1 cost more, one after the other") {
    BeaconWorld w;
    play_round(w.env, w.job, {.withhold_links = {"buyer", "sequencer"}});
    Amount fees;
    for (const SettlementLine& line : list_settlement(w.env.whole(), w.job, 0))
        if (line.kind == LineKind::kAudit) fees = *fees.plus(line.from_escrow);
    const auto first = line_of(w.env, w.job, 0, LineKind::kLink, "buyer");
    const auto second = line_of(w.env, w.job, 0, LineKind::kLink, "sequencer");
    CHECK(first.lost_to_escrow > Amount{});
    CHECK(first.lost_to_escrow < fees);  // finalise would have been recomputed anyway
    CHECK(second.lost_to_escrow.is_zero());
    CHECK(second.lost_burned == w.bond());
}

TEST_CASE("a member whose key is revoked before a round is not waited for; one revoked in it withholds") {
    BeaconWorld w;
    Person& v3 = w.env.person("v3");
    Person& buyer = w.env.person("buyer");
    w.env.send(v3, NodeRevoke{v3.node_key()});  // the slots are dealt
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {.withhold_links = {"v3"}});
    CHECK(w.link("v3").withheld);
    w.env.send(buyer, NodeRevoke{buyer.node_key()});
    w.finish_round();
    const Round next = w.env.round(w.job);
    REQUIRE(next.number == 1);
    REQUIRE(next.links.size() == 3);
    for (const BeaconLink& link : next.links) CHECK(link.node != buyer.node_key());
    CHECK(w.member("buyer").bond == w.bond());
    play_job(w.env, w.job);
    CHECK_FALSE(read_round(w.env.whole(), w.job, 1)->link_missing);
    CHECK(w.member("buyer").bond.is_zero());
}

TEST_CASE("a job cancelled while links are opened ends behind its round, and the link bonds come back") {
    BeaconWorld w;
    play_commits(w.env, w.job, {});
    open_links(w.env, w.job, {"v1"});
    w.env.send(w.env.person("buyer"), JobCancel{w.job});
    w.let_window_pass();
    open_links(w.env, w.job, {});
    w.finish_round();
    play_job(w.env, w.job);  // the windows
    const Job ended = *read_job(w.env.whole(), w.job);
    CHECK(ended.end_reason == Reason::kJobCancelled);
    CHECK(w.env.stake("v1") == kPlenty - w.bond().units());
    for (const BeaconMember& member : ended.beacon) CHECK(member.bond.is_zero());
    CHECK(read_stake(w.env.state(), w.env.person("sequencer").node_key()).free == w.bond());
}

}  // namespace assay::contracts::test
