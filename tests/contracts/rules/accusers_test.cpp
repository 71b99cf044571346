// SPDX-License-Identifier: Apache-2.0
// What becomes of those who accuse a slot, and of its miner, when games end: whose audit is paid, when the
// slot counts as work, and what a block reads that ends games by their clocks.
#include <algorithm>

#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "ledger/store/counting_view.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

using dispute::UnitKind;

Params courts_with_games() {
    Params params = short_windows();
    params.claim_window = 40;
    params.dispute_move_window = 6;
    params.probation_rounds = 1;
    return params;
}

/// Two miners and three verifiers in a job of which every unit is drawn, after round 0.
struct CourtWorld {
    using Plan = std::function<Play(CourtWorld&)>;

    Env env{courts_with_games()};
    Hash256 job;
    std::uint32_t slot = 0;  ///< m1's

    CourtWorld(const Plan& plan, std::uint64_t seed) {
        for (const char* miner : {"m1", "m2"}) env.miner(miner);
        for (const char* verifier : {"v1", "v2", "v3", "v4"}) env.verifier(verifier);
        JobSpec spec = small_job();
        spec.seed = seed;
        spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        slot = slot_of(env, job, "m1");
        play_round(env, job, plan(*this));
        REQUIRE(read_round(env.state(), job, 0)->phase == RoundPhase::kSettled);
    }
    /// The first world of this plan with so many accusers of m1's slot.
    static std::unique_ptr<CourtWorld> accused_by(std::size_t panel, const Plan& plan) {
        for (std::uint64_t seed = 1; seed < 60; ++seed) {
            auto world = std::make_unique<CourtWorld>(plan, seed);
            if (world->claim().accusations.size() == panel) return world;
        }
        FAIL("no seed draws such a panel");
        std::abort();
    }

    ClaimId name() { return {job, 0, ClaimKind::kSlot, slot}; }
    Claim claim() { return *read_claim(env.state(), name()); }
    SlotRound record() { return *read_slot(env.whole(), job, 0, slot); }
    Game game(std::uint32_t number) { return *read_game(env.whole(), job, number); }
    Person& accuser(std::size_t place) { return env.by_node(claim().accusations.at(place).verifier); }
    std::uint32_t challenge(Person& who, std::uint32_t segment) {
        env.send(who, DisputeOpen{job, 0, ClaimKind::kSlot, slot, UnitKind::kSegment, segment});
        return static_cast<std::uint32_t>(list_games(env.state(), job).size() - 1);
    }
    /// The root that a drawn verifier opened for a unit of m1's slot becomes another one, and so does what it
    /// accuses.
    void say(const PublicKey& verifier, std::uint32_t unit, const Hash256& root) {
        const SlotRound drawn = record();
        const auto place = static_cast<std::size_t>(
            std::find(drawn.verifiers.begin(), drawn.verifiers.end(), verifier) - drawn.verifiers.begin());
        env.edit<AuditPosting>(audit_key(job, 0, stage_of(place, drawn), verifier),
                               [&](AuditPosting& posting) {
                                   for (SlotClaim& one : posting.claims)
                                       if (one.slot == slot) one.roots.at(unit) = root;
                               });
        env.edit<Claim>(claim_key(name()), [&](Claim& claim) {
            for (Accusation& one : claim.accusations)
                if (one.verifier == verifier && one.unit == unit) one.found = root;
        });
    }
    Hash256 claimed(std::uint32_t unit) {
        return program::unit_root(read_reveal(env.state(), job, 0, slot)->trace, env.job(job).spec, unit);
    }
    /// m1's slots that count as work found right.
    std::uint64_t verified_slots() {
        std::uint64_t work = 0;
        for (const auto& [kind, units] : list_standing(env.state(), env.person("m1").node_key()))
            work += units;
        return work / env.job(job).slot_work;
    }
    Miner miner() { return *read_miner(env.state(), env.person("m1").node_key()); }
    std::vector<std::uint64_t> speeds() {
        const Job record = env.job(job);
        for (const RosterEntry& one : record.roster)
            if (one.node == env.person("m1").node_key()) return one.speeds;
        return {};
    }
    void lose(std::size_t place) {
        Person& who = accuser(place);
        env.send(who, DisputeConcede{job, challenge(who, 0)});
    }
};

Play all_lie(CourtWorld&) {
    return {.verifiers = {{"v1", VerifierManner::kAccuses},
                          {"v2", VerifierManner::kAccuses},
                          {"v3", VerifierManner::kAccuses}}};
}
Play nobody_lies(CourtWorld&) { return {}; }

/// Both segments of m1's slot are false.
Play slot_is_false(CourtWorld& w) {
    TraceRecord trace = true_trace(w.env.job(w.job), 0, w.slot);
    trace.boundaries[1] = bytes_of("false");
    trace.boundaries[2] = bytes_of("false as well");
    return {.traces = {{w.slot, trace}}};
}

}  // namespace

TEST_CASE(
    "an accuser is paid for what it sealed of the unit that a game decided, whatever it accused first") {
    const bool by_accuser = GENERATE(true, false);
    CAPTURE(by_accuser);
    const auto w = CourtWorld::accused_by(3, slot_is_false);
    const Claim claim = w->claim();
    for (const Accusation& one : claim.accusations) REQUIRE(one.unit == 0);
    // The second accused the first segment with a root of its own, and is right about the other one; the
    // third was right about the first, and says of the other what the miner does.
    w->say(claim.accusations[1].verifier, 0, bytes_of("another error"));
    w->say(claim.accusations[2].verifier, 1, w->claimed(1));
    const std::uint64_t second = w->env.balance(w->accuser(1).name);
    const std::uint64_t third = w->env.balance(w->accuser(2).name);
    std::string names[] = {w->accuser(0).name, w->accuser(1).name, w->accuser(2).name};
    const std::uint32_t number = w->challenge(by_accuser ? w->accuser(0) : w->env.person("v4"), 1);
    w->env.send(w->env.person("m1"), DisputeConcede{w->job, number});
    REQUIRE(w->game(number).claimant_lost);
    // What was conceded proves nothing: the winner's word is held against the others' if it accused as well.
    Amount fees = sum(claim.accusations[0].fee, claim.accusations[1].fee);
    if (!by_accuser) fees = sum(fees, claim.accusations[2].fee);
    CHECK(w->game(number).fees == fees);
    CHECK(w->env.balance(names[1]) == second + claim.accusations[1].fee.units());
    CHECK(w->env.balance(names[2]) == third + (by_accuser ? 0 : claim.accusations[2].fee.units()));
}

TEST_CASE("an accuser that was not asked about the unit of a game is measured by the winner's other words") {
    const auto w = CourtWorld::accused_by(3, slot_is_false);
    const Claim claim = w->claim();
    // As if nobody had been drawn for the second segment: what was sealed of it is not there.
    for (const Accusation& one : claim.accusations) {
        const SlotRound drawn = w->record();
        const auto place =
            static_cast<std::size_t>(std::find(drawn.verifiers.begin(), drawn.verifiers.end(), one.verifier) -
                                     drawn.verifiers.begin());
        w->env.edit<AuditPosting>(audit_key(w->job, 0, stage_of(place, drawn), one.verifier),
                                  [&](AuditPosting& posting) {
                                      for (SlotClaim& said : posting.claims)
                                          if (said.slot == w->slot) said.roots.erase(said.roots.begin() + 1);
                                  });
    }
    w->env.edit<SlotRound>(slot_key(w->job, 0, w->slot), [](SlotRound& slot) { slot.drawn_units = {0, 2}; });
    w->say(claim.accusations[2].verifier, 0, bytes_of("another error"));
    const std::uint32_t number = w->challenge(w->accuser(0), 1);
    w->env.send(w->env.person("m1"), DisputeConcede{w->job, number});
    CHECK(w->game(number).fees == sum(claim.accusations[0].fee, claim.accusations[1].fee));
}

TEST_CASE("a slot counts as its miner's work once all who accused it have lost, and not before") {
    const auto w = CourtWorld::accused_by(2, all_lie);
    const SlotRound record = w->record();
    REQUIRE(record.verdict == Reason::kPaidAccused);
    CHECK(w->verified_slots() == 0);
    CHECK(w->miner().earned.is_zero());
    CHECK(w->speeds().empty());
    CHECK_FALSE(w->miner().prepaid.is_zero());
    w->lose(0);
    CHECK(w->verified_slots() == 0);
    CHECK_FALSE(w->record().cleared);
    // The other one lets its time pass.
    const std::uint64_t prepaid = w->miner().prepaid.units();
    const std::uint64_t balance = w->env.balance("m1");
    w->env.advance_to(w->claim().accuse_by);
    REQUIRE(w->claim().accuse_by == 0);
    CHECK(w->record().cleared);
    CHECK(w->verified_slots() == 1);
    CHECK(w->miner().earned == w->claim().held);
    CHECK(w->speeds().size() == 1);
    // Its probation is over with this slot, unless the round that runs still audits it as a newcomer.
    const auto running = list_slots(w->env.state(), w->job, w->env.job(w->job).round);
    const bool audited = std::any_of(running.begin(), running.end(), [&](const SlotRound& slot) {
        return slot.newcomer && slot.miner == w->env.person("m1").node_key();
    });
    CHECK(w->miner().prepaid.units() == (audited ? prepaid : 0));
    CHECK(w->env.balance("m1") >= balance + (audited ? 0 : prepaid));

    // The same round in which nobody accuses it.
    CourtWorld quiet(nobody_lies, w->env.job(w->job).spec.seed);
    CHECK(quiet.verified_slots() == 1);
    CHECK(quiet.miner().earned == w->miner().earned);
    CHECK(quiet.speeds() == w->speeds());
}

TEST_CASE("a slot cleared after its miner lost its standing counts for none, and one that dies for nothing") {
    const auto w = CourtWorld::accused_by(2, all_lie);
    w->lose(0);
    SECTION("its miner lost its standing meanwhile") {
        w->env.edit<Miner>(miner_key(w->env.person("m1").node_key()), [](Miner& miner) { ++miner.losses; });
        w->lose(1);
        CHECK(w->record().cleared);
        CHECK(w->verified_slots() == 0);
        CHECK(w->miner().earned == w->claim().held);
    }
    SECTION("the miner loses the last game") {
        w->env.send(w->env.person("m1"), DisputeConcede{w->job, w->challenge(w->accuser(1), 0)});
        CHECK_FALSE(w->record().cleared);
        CHECK(w->verified_slots() == 0);
        CHECK(w->miner().earned.is_zero());
    }
}

TEST_CASE("what a block reads to end accusations does not grow with the games that the job has had") {
    const auto reads = [](std::size_t before) {
        const auto w = CourtWorld::accused_by(3, all_lie);
        for (std::size_t i = 0; i < before; ++i)
            w->env.send(w->env.person("v4"), DisputeConcede{w->job, w->challenge(w->env.person("v4"), 0)});
        REQUIRE(list_games(w->env.state(), w->job).size() == before);
        // Whoever is silent about the first of both slots has lost the other with it.
        REQUIRE(list_accused(w->env.state(), w->job).size() == 2);
        std::uint64_t due = w->claim().accuse_by;
        for (const std::uint32_t slot : {0U, 1U})
            due = std::min(due, read_claim(w->env.state(), {w->job, 0, ClaimKind::kSlot, slot})->accuse_by);
        REQUIRE(list_due_in_games(w->env.state(), w->job, due).accused.size() == 1);
        w->env.advance_to(due - 1);
        const ledger::CountingView counted(w->env.state());
        Overlay overlay(counted);
        begin_block(overlay, {w->env.chain(), due});
        CHECK(list_games(overlay, w->job).size() > before + 3);
        return counted.reads();
    };
    // Of each of at most six accusations a few more tell the number of its game: as many as 40 has bits,
    // twice.
    const std::uint64_t none = reads(0);
    const std::uint64_t many = reads(40);
    CAPTURE(none, many);
    CHECK(many <= none + 6 * 16);
}

}  // namespace assay::contracts::test
