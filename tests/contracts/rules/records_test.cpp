// SPDX-License-Identifier: Apache-2.0
// A message writes the records that it is about, and nothing that grows with the job.
#include <map>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/identity/money.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct Written {
    std::map<Table, int> records;
    std::size_t bytes = 0;
};

/// What the message writes, were it sent now.
Written written_by(Env& env, Person& who, const Payload& payload) {
    const auto tx = check_static(env.chain(), env.sign(who, payload));
    REQUIRE(tx.ok());
    REQUIRE(check_against(env.state(), env.block(), *tx).ok());
    Overlay overlay(env.state());
    apply(overlay, env.block(), *tx);
    Written written;
    for (const auto& [key, value] : overlay.changes()) {
        ++written.records[static_cast<Table>(key.front())];
        written.bytes += key.size() + (value ? value->size() : 0);
    }
    return written;
}

/// Sends the message, which must write these records and at most so many bytes.
void expect_written(Env& env, Person& who, const Payload& payload, const std::map<Table, int>& records,
                    std::size_t bytes) {
    INFO(to_text(type_of(payload)));
    const Written written = written_by(env, who, payload);
    CHECK(written.records == records);
    CHECK(written.bytes <= bytes);
    env.send(who, payload);
}

struct RecordsWorld {
    Env env;
    Hash256 job;

    RecordsWorld() {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3", "v4"}) env.verifier(name);
        job = env.post(small_job());
    }
    Person& who(const std::string& name) { return env.person(name); }
    Person& holder(std::uint32_t slot) {
        return env.by_node(read_slot(env.whole(), job, env.job(job).round, slot)->miner);
    }
};

}  // namespace

TEST_CASE("a message of the bidding writes its own record and the counts, never the job") {
    using enum Table;
    RecordsWorld w;
    const std::uint32_t rounds = w.env.job(w.job).spec.rounds;
    const std::map<Table, int> enlisting = {{kSupply, 1}, {kNodeKey, 1}, {kStake, 1},
                                            {kPanel, 1},  {kBidding, 1}, {kBeaconMember, 1}};
    for (const char* name : {"v1", "v2", "v3", "v4"})
        expect_written(w.env, w.who(name), w.env.enlistment(w.who(name), w.job), enlisting, 900);
    w.env.deposit_for_links("sequencer", w.job);
    expect_written(w.env, w.who("sequencer"),
                   ValidatorEnlist{w.job, chain_tip(w.who("sequencer").secret, rounds)},
                   {{kSupply, 1}, {kNodeKey, 1}, {kStake, 1}, {kBidding, 1}, {kBeaconMember, 1}}, 900);
    for (const char* name : {"m1", "m2", "m3"}) {
        Person& miner = w.who(name);
        expect_written(
            w.env, miner,
            AskCommit{w.job, ask_seal(w.env.chain(), w.job, miner.node_key(), amount(500), miner.secret)},
            {{kSupply, 1}, {kNodeKey, 1}, {kStake, 1}, {kAsk, 1}, {kBidding, 1}}, 700);
    }
    expect_written(w.env, w.who("buyer"), EndpointUpdate{"127.0.0.1:7001", w.job},
                   {{kNodeKey, 1}, {kBuyerEndpoint, 1}}, 200);
    CHECK(w.env.job(w.job).buyer_endpoint == "127.0.0.1:7001");
    w.env.let_deadline_pass();
    for (const char* name : {"m1", "m2", "m3"}) {
        Person& miner = w.who(name);
        expect_written(w.env, miner, AskReveal{w.job, amount(500), miner.secret}, {{kNodeKey, 1}, {kAsk, 1}},
                       600);
    }
}

TEST_CASE("a message of a round that ends no phase writes one record of the round, and its sender's nonce") {
    using enum Table;
    RecordsWorld w;
    w.env.hold_auction(w.job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3", "v4"});
    w.env.next_block();
    expect_written(w.env, w.who("buyer"), JobCancel{w.job}, {{kAccount, 1}, {kJobProgress, 1}}, 500);
    const Job job = w.env.job(w.job);
    const auto slot = [&](std::uint32_t number) { return *read_slot(w.env.whole(), w.job, 0, number); };
    const TraceRecord trace = true_trace(job, 0, 0);
    const std::map<Table, int> of_slot = {{kNodeKey, 1}, {kSlotRound, 1}};
    expect_written(w.env, w.holder(0), RoundCommit{w.job, 0, 0, seal_of(w.env, job, slot(0), trace)}, of_slot,
                   700);
    w.env.send(w.holder(1), RoundCommit{w.job, 0, 1, seal_of(w.env, job, slot(1), true_trace(job, 0, 1))});

    const Round round = w.env.round(w.job);
    REQUIRE(round.links.size() == 6);
    const Hash256 link = chain_link(w.who("v1").secret, job.spec.rounds, 0);
    expect_written(w.env, w.who("v1"), BeaconOpen{w.job, 0, link},
                   {{kNodeKey, 1}, {kBeaconMember, 1}, {kBeaconLink, 1}}, 500);
    play_links(w.env, w.job, {.withhold_links = {"v1"}});

    expect_written(w.env, w.holder(0), serve_of(w.env, w.job, 0, trace),
                   {{kNodeKey, 1}, {kSlotRound, 1}, {kServe, 1}}, 900);
    w.env.send(w.holder(1), serve_of(w.env, w.job, 1, true_trace(job, 0, 1)));

    REQUIRE(w.env.round(w.job).phase == RoundPhase::kAuditSeal);
    const PublicKey drawn = slot(0).verifiers.front();
    Person& verifier = w.env.by_node(drawn);
    std::vector<SlotClaim> claims;
    for (const AssignedSlot& assigned : assigned_slots(w.env.state(), w.job, 0, Stage::kPanel, drawn)) {
        claims.push_back({assigned.slot, false, {}});
        for (const std::uint32_t unit : assigned.units) {
            claims.back().roots.push_back(
                program::unit_root(true_trace(job, 0, assigned.slot), job.spec, unit));
        }
    }
    const Hash256 salt = bytes_of(verifier.name + " salt audit");
    const Hash256 seal = audit_seal(w.env.chain(), w.job, 0, Stage::kPanel, drawn, claims, salt);
    expect_written(w.env, verifier, AuditSeal{w.job, 0, Stage::kPanel, seal, {0}},
                   {{kNodeKey, 1}, {kAudit, 1}}, 400);
    for (const EnlistedVerifier& other : job.verifiers) {
        if (other.node == drawn || !read_audit(w.env.state(), w.job, 0, Stage::kPanel, other.node)) continue;
        w.env.send(w.env.by_node(other.node), AuditSeal{w.job, 0, Stage::kPanel, bytes_of("any"), {0}});
    }
    expect_written(w.env, verifier, AuditOpen{w.job, 0, Stage::kPanel, claims, salt},
                   {{kNodeKey, 1}, {kAudit, 1}, {kAuditPlace, 1}}, 1'200);
    while (w.env.round(w.job).phase != RoundPhase::kReveal) w.env.let_deadline_pass();
    expect_written(w.env, w.holder(0), reveal_of(w.env, w.job, 0, trace),
                   {{kNodeKey, 1}, {kSlotRound, 1}, {kReveal, 1}, {kRevealPlace, 1}}, 1'500);
    w.env.send(w.holder(1), reveal_of(w.env, w.job, 1, true_trace(job, 0, 1)));
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kStore);
    expect_written(w.env, w.who("v1"), StorageBitmap{w.job, 0, storage_bits(2, {0, 1})},
                   {{kNodeKey, 1}, {kStorage, 1}}, 300);
}

TEST_CASE("a merge's messages write one posting") {
    using enum Table;
    RecordsWorld w;
    w.env.hold_auction(w.job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3", "v4"});
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {});
    play_verdicts(w.env, w.job, {});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kMergeSeal);
    const Job job = w.env.job(w.job);
    const Round round = w.env.round(w.job);
    const MergeClaim claim = true_merge(w.env.state(), job, 0);
    const Hash256 salt = bytes_of("merge salt");
    const auto seal = [&](const PublicKey& node) {
        return MergeSeal{w.job, 0, merge_seal(w.env.chain(), w.job, 0, node, claim, salt)};
    };
    const std::map<Table, int> of_posting = {{kNodeKey, 1}, {kMergePosting, 1}};
    const PublicKey first = round.merges[0].verifier;
    expect_written(w.env, w.env.by_node(first), seal(first), of_posting, 500);
    for (std::size_t i = 1; i < round.merges.size(); ++i) {
        const PublicKey node = round.merges[i].verifier;
        w.env.send(w.env.by_node(node), seal(node));
    }
    expect_written(w.env, w.env.by_node(first), MergeOpen{w.job, 0, claim, salt}, of_posting, 500);
}

TEST_CASE("a job and a round come back as they were written, and writing them again writes nothing") {
    RecordsWorld w;
    w.env.hold_auction(w.job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3", "v4"});
    play_round(w.env, w.job, {.verifiers = {{"v2", VerifierManner::kLies}}});
    Overlay overlay(w.env.state());
    write_job(overlay, w.env.job(w.job));
    write_round(overlay, w.env.round(w.job));
    write_round(overlay, read_round(overlay, w.job, 0).value());
    CHECK(overlay.changes().empty());
    const Job job = w.env.job(w.job);
    REQUIRE(job.verifiers.size() == 4);
    CHECK(job.verifiers[0].node == w.who("v1").node_key());
    CHECK(job.beacon.size() == 6);
    CHECK(job.beacon.front().node == w.who("buyer").node_key());
    CHECK(job.roster.size() == 2);
    CHECK(job.roster.front().ask <= job.roster.back().ask);
}

}  // namespace assay::contracts::test
