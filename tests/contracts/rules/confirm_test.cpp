// SPDX-License-Identifier: Apache-2.0
// Who says of open starts that they were not served is confirmed by one more, who seals before anybody opens.
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "tests/contracts/rules/blind_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("a seal says in the clear what it replayed, of its own slots alone, in one spelling") {
    BlindWorld w;
    w.to_serve();
    play_serves(w.env, w.job, {});
    Person& first = w.env.person(w.panel()[0]);
    const AuditSeal good = w.seal(first, {{0, true, std::vector<Hash256>(3, bytes_of("root"))}});
    REQUIRE(good.replayed == Bytes{1});
    for (const Bytes& flags : {Bytes{}, Bytes{1, 0}, Bytes{2}, Bytes{3}, Bytes{0, 1}}) {
        AuditSeal bad = good;
        bad.replayed = flags;
        w.env.refuse(Reason::kBadBitmap, first, bad);
    }
    w.env.send(first, good);
}

TEST_CASE("what is opened otherwise than its seal said is refused, and costs what silence costs") {
    for (const bool said : {true, false}) {
        CAPTURE(said);
        BlindWorld w;
        w.to_serve();
        play_serves(w.env, w.job, {});
        const auto pair = w.panel();
        Person& first = w.env.person(pair[0]);
        Person& second = w.env.person(pair[1]);
        const std::vector<SlotClaim> replay = {{0, true, std::vector<Hash256>(3, bytes_of("root"))}};
        const std::vector<SlotClaim> alone = {{0, false, {bytes_of("root")}}};
        AuditSeal seal = w.seal(first, said ? alone : replay);
        seal.replayed = {static_cast<std::uint8_t>(said ? 1 : 0)};
        w.env.send(first, seal);
        w.env.send(second, w.seal(second, alone));
        REQUIRE(w.env.round(w.job).phase == RoundPhase::kAuditOpen);
        // Neither what it sealed nor what it said.
        w.env.refuse(Reason::kWrongClaims, first,
                     AuditOpen{w.job, 0, Stage::kPanel, said ? alone : replay, kSalt});
        w.env.refuse(Reason::kSealMismatch, first,
                     AuditOpen{w.job, 0, Stage::kPanel, said ? replay : alone, kSalt});
        w.env.send(second, AuditOpen{w.job, 0, Stage::kPanel, alone, kSalt});
        w.env.advance_to(w.env.round(w.job).phase_deadline + 1);
        play_reveals(w.env, w.job, {});
        play_storage(w.env, w.job, {});
        play_merges(w.env, w.job, {});
        CHECK(w.audit(pair[0]).reason == Reason::kAuditUnopened);
        CHECK(w.audit(pair[0]).lost == w.stake_of_accusation());
    }
}

TEST_CASE("two who say that open starts were not served take no pay from the slot without a third") {
    BlindWorld w;
    w.to_serve();
    w.finish(w.unserved(w.panel()));
    CHECK(w.slot().verdict == Reason::kPaid);
    REQUIRE(w.slot().verifiers.size() == 3);  // though the pair agrees
    CHECK(w.slot().confirmers == 1);
    CHECK(w.takes_nothing());
}

TEST_CASE("who confirms is drawn before anything is opened, and nothing tells it a root before it seals") {
    BlindWorld w;
    w.to_serve();
    play_serves(w.env, w.job, {});
    const auto pair = w.panel();
    const Play play = w.unserved(pair);
    play_seals(w.env, w.job, play, Stage::kPanel);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kConfirmSeal);
    const SlotRound slot = w.slot();
    REQUIRE(slot.verifiers.size() == 3);
    CHECK(stage_of(1, slot) == Stage::kPanel);
    CHECK(stage_of(2, slot) == Stage::kConfirm);
    const Job job = w.env.job(w.job);
    const TraceRecord trace = true_trace(job, 0, 0);
    const auto postings = list_audits(w.env.state(), w.job, 0);
    REQUIRE(postings.size() == 3);
    for (const AuditPosting& posting : postings) {
        CHECK(posting.claims.empty());
        CHECK_FALSE(posting.opened);
        CHECK(posting.sealed == (posting.stage == Stage::kPanel));
    }
    const auto known_roots = [&] {
        int known = 0;
        for (std::uint32_t unit = 0; unit < 3; ++unit)
            known += w.is_known(program::unit_root(trace, job.spec, unit)) ? 1 : 0;
        return known;
    };
    CHECK(known_roots() == 0);
    CHECK_FALSE(w.is_known(trace.update));
    // Nobody opens yet, and nobody of the panel seals any more.
    Person& first = w.env.person(pair[0]);
    w.env.refuse(Reason::kWrongPhase, first, AuditOpen{w.job, 0, Stage::kPanel, {}, kSalt});
    w.env.refuse(Reason::kWrongPhase, first, w.seal(first, {}));
    play_seals(w.env, w.job, play, Stage::kConfirm);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kAuditOpen);
    CHECK(known_roots() == 0);
    play_openings(w.env, w.job, play, RoundPhase::kAuditOpen);
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kReveal);
    CHECK(known_roots() == 3);
}

TEST_CASE("who confirms with a root that it made up accuses the slot, and loses the game") {
    BlindWorld w;
    w.to_serve();
    Play play = w.unserved(w.panel());
    play_serves(w.env, w.job, play);
    play_seals(w.env, w.job, play, Stage::kPanel);
    REQUIRE(w.panel().size() == 3);
    const std::string lazy = w.panel()[2];
    play.verifiers[lazy] = VerifierManner::kLies;
    w.finish(play);
    CHECK(w.slot().verdict == Reason::kPaidAccused);
    CHECK(w.audit(lazy).reason == Reason::kAuditAccuses);
    CHECK(w.takes_nothing());
    w.env.advance_to(read_claim(w.env.state(), {w.job, 0, ClaimKind::kSlot, 0})->accuse_by);
    const auto games = list_games(w.env.state(), w.job);
    REQUIRE(games.size() == 1);
    CHECK(games[0].challenger == w.env.person(lazy).node_key());
    CHECK_FALSE(games[0].claimant_lost);
    CHECK(games[0].lost == w.stake_of_accusation());
}

TEST_CASE("who says alone that it was not served takes nothing, whoever else of its panel is silent") {
    for (const std::size_t drawn : {1U, 2U, 3U}) {
        CAPTURE(drawn);
        BlindWorld w;
        w.to_serve({}, drawn);
        const auto panel = w.panel();
        Play play = w.unserved({panel[0]});
        for (std::size_t i = 1; i < drawn; ++i) play.verifiers[panel[i]] = VerifierManner::kAbsent;
        w.finish(play);
        CHECK(w.slot().confirmers == (drawn < 3 ? 1 : 0));
        CHECK(w.slot().verdict == Reason::kPaid);
        CHECK(w.takes_nothing());
        for (std::size_t i = 1; i < drawn; ++i) {
            CHECK(w.audit(panel[i]).reason == Reason::kAuditSilent);
            CHECK(w.audit(panel[i]).lost == w.stake_of_accusation());
        }
    }
}

TEST_CASE("who is silent about a confirmation pays for it, and the panel's replays are not paid") {
    for (const VerifierManner manner : {VerifierManner::kAbsent, VerifierManner::kSealsOnly}) {
        CAPTURE(static_cast<int>(manner));
        BlindWorld w;
        w.to_serve();
        Play play = w.unserved(w.panel());
        play_serves(w.env, w.job, play);
        play_seals(w.env, w.job, play, Stage::kPanel);
        REQUIRE(w.panel().size() == 3);
        const std::string silent = w.panel()[2];
        play.verifiers[silent] = manner;
        w.finish(play);
        CHECK(w.slot().verifiers.size() == 3);  // the panel opened: nothing is undecided
        CHECK(w.slot().verdict == Reason::kPaid);
        CHECK(w.audit(silent).lost == w.stake_of_accusation());
        CHECK(w.takes_nothing());
    }
}

TEST_CASE(
    "a panel that says that it replayed and opens nothing pays, and who confirms is paid the plain fee") {
    BlindWorld w;
    w.to_serve();
    const auto pair = w.panel();
    Play play = w.unserved(pair);
    play_serves(w.env, w.job, play);
    play_seals(w.env, w.job, play, Stage::kPanel);
    for (const std::string& name : pair) play.verifiers[name] = VerifierManner::kSealsOnly;
    w.finish(play);
    REQUIRE(w.panel().size() == 3);
    for (const std::string& name : pair) {
        CHECK(w.audit(name).reason == Reason::kAuditUnopened);
        CHECK(w.audit(name).lost == w.stake_of_accusation());
    }
    CHECK(w.audit(w.panel()[2]).reason == Reason::kPaidAudit);
    CHECK(w.takes_nothing());
}

TEST_CASE("where nobody is left to be a third, two who say that they were not served are believed") {
    BlindWorld w(BlindWorld::params(), {"v1", "v2"});
    w.to_serve();
    const auto pair = w.panel();
    w.finish({.verifiers = {{pair[0], VerifierManner::kUnserved}, {pair[1], VerifierManner::kUnserved}}});
    CHECK(w.slot().verifiers.size() == 2);
    CHECK(w.audit(pair[0]).from_slot == w.pay());
    CHECK(w.miner_line().paid.is_zero());
}

}  // namespace assay::contracts::test
