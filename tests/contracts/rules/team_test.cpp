// SPDX-License-Identifier: Apache-2.0
// Teams: members submit jobs that their sponsor's account pays, and take no more than their caps.
#include "contracts/rules/identity/team.hpp"
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

constexpr std::uint64_t kDay = 50;  // heights

/// A sponsor with money and a member without any, whose node key serves what it submits. Caps are counted in
/// jobs: what a submission of small_job() takes in all.
struct Team {
    Env env;
    Amount job;  ///< budget, link bond and fee

    Team() {
        const auto quote = quote_job(env.params(), small_job()).value();
        job = check_budget(quote, small_job().market).value();
        Person& member = env.person("other");
        env.send(member, NodeRegister{member.node_key(),
                                      prove_node_key(member.node, member.owner_key(), env.chain())});
        env.send(member, Transfer{env.person("m4").owner_key(), amount(env.balance("other"))});
    }
    Person& sponsor() { return env.person("buyer"); }
    Person& member() { return env.person("other"); }
    Amount jobs(std::uint64_t number) const { return *job.times(number, 1, base::Rounding::kDown); }
    void grant(std::uint64_t per_job, std::uint64_t per_day, std::uint64_t total) {
        env.send(sponsor(),
                 TeamGrant{member().owner_key(), {jobs(per_job), jobs(per_day), kDay, jobs(total)}});
    }
    TeamSubmit wish() {
        TeamSubmit tx;
        tx.spec = small_job();
        tx.node = member().node_key();
        tx.endpoint = "127.0.0.1:1";
        tx.beacon_tip = chain_tip(member().secret, tx.spec.rounds);
        tx.sponsor = sponsor().owner_key();
        return tx;
    }
    Hash256 submit() { return job_id(env.send(member(), wish()).id); }
    TeamMember record() {
        return read_team_member(env.state(), sponsor().owner_key(), member().owner_key()).value();
    }
};

}  // namespace

TEST_CASE("a member's job is paid by the sponsor, who is its buyer; the member needs no balance") {
    Team team;
    team.grant(1, 9, 9);
    CHECK(team.env.balance("other") == 0);
    const std::uint64_t before = team.env.balance("buyer");
    const Hash256 id = team.submit();
    const Job job = team.env.job(id);
    CHECK(job.buyer == team.sponsor().owner_key());
    CHECK(submitter_of(team.env.state(), job) == team.member().owner_key());
    CHECK(job.additions.by_member == team.job);
    CHECK(team.env.balance("buyer") == before - team.job.units());
    CHECK(team.record().taken == team.job);
    team.env.send(team.member(), JobCancel{id});
    CHECK(team.env.balance("buyer") == before - job_fee(team.env.params(), small_job())->units());
    CHECK(team.env.balance("other") == 0);
}

TEST_CASE("a grant opens the account of a key that has none") {
    Team team;
    const auto key = base::SecretKey::from_seed(base::Bytes(32, 77));
    team.env.send(team.sponsor(), TeamGrant{key.public_key(), {team.job, team.job, kDay, team.job}});
    CHECK(team.env.state().get(account_key(key.public_key())));
    CHECK(read_account(team.env.state(), key.public_key()).balance.is_zero());
    const auto members = list_team(team.env.state(), team.sponsor().owner_key());
    REQUIRE(members.size() == 1);
    CHECK(members[0].first == key.public_key());
    CHECK(members[0].second.caps.day == kDay);
}

TEST_CASE("caps hold in each job, in any day, and in all, however many come in one block") {
    Team team;
    SECTION("no job takes more than its cap") {
        team.env.send(team.sponsor(),
                      TeamGrant{team.member().owner_key(),
                                {*team.job.minus(amount(1)), team.jobs(9), kDay, team.jobs(9)}});
        team.env.refuse(Reason::kCapPerJob, team.member(), team.wish());
        team.grant(1, 9, 9);
        const Hash256 id = team.submit();
        team.env.refuse(Reason::kCapPerJob, team.member(), JobTopUp{id, amount(1)});
    }
    SECTION("what a day takes") {
        team.grant(1, 3, 9);
        for (int i = 0; i < 3; ++i) team.submit();
        team.env.refuse(Reason::kCapPerDay, team.member(), team.wish());
    }
    SECTION("what there is in all") {
        team.grant(1, 9, 3);
        for (int i = 0; i < 3; ++i) team.submit();
        team.env.refuse(Reason::kCapTotal, team.member(), team.wish());
    }
    SECTION("top-ups count") {
        team.grant(2, 2, 9);
        const Hash256 id = team.submit();
        team.env.send(team.member(), JobTopUp{id, team.job});
        CHECK(team.env.job(id).additions.by_member == team.jobs(2));
        team.env.refuse(Reason::kCapPerJob, team.member(), JobTopUp{id, amount(1)});
        team.env.refuse(Reason::kCapPerDay, team.member(), team.wish());
    }
}

TEST_CASE("no day's heights in a row see more than the day's cap, wherever they begin") {
    Team team;
    team.grant(1, 2, 99);
    team.submit();
    const std::uint64_t first = team.env.height();
    team.env.advance_to(first + kDay - 1);
    const Hash256 late = team.submit();
    team.env.refuse(Reason::kCapPerDay, team.member(), team.wish());
    // Cancelled at once: its room of the day does not come back, though its total does.
    team.env.send(team.member(), JobCancel{late});
    team.env.refuse(Reason::kCapPerDay, team.member(), team.wish());
    team.env.advance_to(first + kDay);
    team.submit();  // the first is a day old; the cancelled one is not
    team.env.refuse(Reason::kCapPerDay, team.member(), team.wish());
    team.env.advance_to(first + kDay + kDay - 2);
    team.env.refuse(Reason::kCapPerDay, team.member(), team.wish());
    team.env.advance_to(first + kDay + kDay - 1);
    team.submit();
    team.env.refuse(Reason::kCapPerDay, team.member(), team.wish());
}

TEST_CASE("more heights than a record keeps apart count longer, never less") {
    constexpr std::uint64_t kLong = 1'000;
    TeamMember member;
    member.caps = {amount(99), amount(99), kLong, amount(99)};
    for (std::uint64_t height = 1; height <= kMaxTakenAt + 1; ++height) take_room(member, height, amount(1));
    CHECK(member.recent.size() == kMaxTakenAt);
    CHECK(member.recent.front().height == 2);
    CHECK(member.recent.front().amount == amount(2));
    CHECK(taken_in_day(member, 1 + kLong - 1) == amount(kMaxTakenAt + 1));
    // What was taken at height 1 is a day old, and counts with height 2.
    CHECK(taken_in_day(member, 1 + kLong) == amount(kMaxTakenAt + 1));
    CHECK(taken_in_day(member, 2 + kLong) == amount(kMaxTakenAt - 1));
}

TEST_CASE("an ended job gives room back for what it did not use, and the sponsor's top-ups give none") {
    Team team;
    for (const char* name : {"m1", "m2"}) team.env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) team.env.verifier(name);
    const bool helped = GENERATE(false, true);
    CAPTURE(helped);
    team.grant(1, 9, 2);
    const Hash256 id = team.submit();
    if (helped) team.env.send(team.sponsor(), JobTopUp{id, team.jobs(5)});
    CHECK(team.record().taken == team.job);
    team.env.hold_auction(id, {{"m1", 1'000}, {"m2", 1'000}}, {"v1", "v2", "v3"}, false);
    play_job(team.env, id);
    const Job job = team.env.job(id);
    REQUIRE(job.phase == JobPhase::kEnded);
    REQUIRE_FALSE(job.spent.is_zero());
    const Amount fee = *job_fee(team.env.params(), small_job());
    CHECK(team.record().taken == *job.spent.plus(fee));
}

TEST_CASE("a member that is revoked in mid-job submits and decides nothing more; the job goes on") {
    Team team;
    team.grant(9, 9, 9);
    const Hash256 id = team.submit();
    team.env.send(team.sponsor(), TeamRevoke{team.member().owner_key()});
    team.env.refuse(Reason::kNotMember, team.member(), team.wish());
    team.env.refuse(Reason::kNotMember, team.member(), JobTopUp{id, amount(1)});
    team.env.refuse(Reason::kNotMember, team.member(), JobExtend{id, 1});
    team.env.refuse(Reason::kNotMember, team.member(), JobCancel{id});
    team.env.refuse(Reason::kNotMember, team.sponsor(), TeamRevoke{team.member().owner_key()});
    CHECK_FALSE(is_over(team.env.job(id).phase));
    // Granted again while the job runs: what it took still counts, and comes back to the same record.
    team.grant(9, 9, 9);
    CHECK(team.record().taken == team.job);
    team.env.send(team.sponsor(), TeamRevoke{team.member().owner_key()});
    team.env.send(team.sponsor(), JobCancel{id});
    CHECK(team.record().taken == *job_fee(team.env.params(), small_job()));
    CHECK(team.record().revoked);
}

TEST_CASE("lower caps end what a member takes, and nothing that it took") {
    Team team;
    team.grant(1, 9, 9);
    team.submit();
    team.env.send(team.sponsor(), TeamGrant{team.member().owner_key(), {{}, {}, kDay, {}}});
    team.env.refuse(Reason::kCapPerJob, team.member(), team.wish());
    CHECK(team.record().taken == team.job);
}

TEST_CASE("a sponsor that has emptied its balance is taken nothing from") {
    Team team;
    team.grant(9, 9, 9);
    const Hash256 id = team.submit();
    Person& sponsor = team.sponsor();
    team.env.send(sponsor,
                  Transfer{team.env.person("m4").owner_key(), amount(team.env.balance("buyer") - 1)});
    team.env.refuse(Reason::kInsufficientBalance, team.member(), team.wish());
    team.env.refuse(Reason::kInsufficientBalance, team.member(), JobTopUp{id, amount(2)});
    team.env.send(team.member(), JobTopUp{id, amount(1)});
    CHECK(team.env.balance("buyer") == 0);
}

TEST_CASE("the sponsor and the member that submitted decide about a job, and no other member") {
    Team team;
    team.grant(9, 9, 9);
    const Hash256 id = team.submit();
    Person& other = team.env.person("m5");
    team.env.send(team.sponsor(), TeamGrant{other.owner_key(), team.record().caps});
    team.env.refuse(Reason::kNotYours, other, JobTopUp{id, amount(1)});
    team.env.refuse(Reason::kNotYours, other, JobExtend{id, 1});
    team.env.refuse(Reason::kNotYours, other, JobCancel{id});
    for (Person* who : {&team.sponsor(), &team.member()}) {
        team.env.send(*who, JobTopUp{id, amount(1)});
        team.env.send(*who, JobExtend{id, 1});
    }
    team.env.send(team.sponsor(), JobCancel{id});
}

TEST_CASE("a stranger is no member, a node key is none, and a day has heights") {
    Team team;
    const TeamCaps caps{team.job, team.job, kDay, team.job};
    team.env.refuse(Reason::kNotMember, team.member(), team.wish());
    team.env.refuse(Reason::kNotMember, team.sponsor(), TeamRevoke{team.member().owner_key()});
    team.env.refuse(Reason::kKeyTaken, team.sponsor(), TeamGrant{team.member().node_key(), caps});
    team.env.refuse(Reason::kKeyTaken, team.sponsor(), TeamGrant{team.sponsor().owner_key(), caps});
    team.env.refuse(Reason::kBadCaps, team.sponsor(),
                    TeamGrant{team.member().owner_key(), {team.job, team.job, 0, team.job}});
    // The job is served by a key of who submits it, not by one of the sponsor's.
    team.grant(1, 1, 1);
    Person& sponsor = team.sponsor();
    team.env.send(sponsor, NodeRegister{sponsor.node_key(),
                                        prove_node_key(sponsor.node, sponsor.owner_key(), team.env.chain())});
    TeamSubmit of_sponsor = team.wish();
    of_sponsor.node = sponsor.node_key();
    team.env.refuse(Reason::kNotYours, team.member(), of_sponsor);
}

TEST_CASE("a member does not judge the job that it submitted; other members of the team may") {
    Team team;
    team.grant(9, 9, 9);
    const Hash256 id = team.submit();
    Person& member = team.member();
    team.env.enrich("other", 10 * kPlenty);
    team.env.send(member, VerifierRegister{member.node_key(), "127.0.0.1:2"});
    team.env.send(member, StakeDeposit{member.node_key(), amount(kPlenty)});
    team.env.refuse(Reason::kNotParticipant, member, team.env.enlistment(member, id));
    team.env.verifier("m5");
    team.env.send(team.sponsor(), TeamGrant{team.env.person("m5").owner_key(), team.record().caps});
    team.env.enlist("m5", id);
}

TEST_CASE("a member that was revoked bids for its job no more") {
    Team team;
    team.grant(2, 2, 2);  // terms of the market make the job longer, and its fee larger
    TeamSubmit wish = team.wish();
    wish.spec.market.terms = {.gang = 1, .most = wish.spec.slots};
    const Hash256 job = job_id(team.env.send(team.member(), wish).id);
    const LotClass kind{wish.spec.profile, 10, 5, 8};
    team.env.send(team.sponsor(), TeamRevoke{team.member().owner_key()});
    team.env.refuse(Reason::kNotMember, team.member(), BidSeal{job, bytes_of("seal")});
    team.env.refuse(Reason::kNotMember, team.member(), LeaseTake{job, kind, 1, true});
}

}  // namespace assay::contracts::test
