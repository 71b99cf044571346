// SPDX-License-Identifier: Apache-2.0
// What the views say of a job that was played to its end under the rules.
#include <algorithm>
#include <set>

#include "contracts/rules/escrow.hpp"
#include "node/views/job_view.hpp"
#include "node/views/network_view.hpp"
#include "node/views/party_view.hpp"
#include "node/views/payout_view.hpp"
#include "node/views/round_view.hpp"
#include "node/views/rounds_begun.hpp"
#include "tests/contracts/rules/counted_state.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;

// Three miners of which one cheats in every round, and three verifiers.
struct PlayedJob {
    PlayedJob() {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        id = env.post(small_job());
        env.hold_auction(id, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
        const Play play = {.miners = {{"m1", MinerManner::kCheats}}};
        play_round(env, id, play);
        play_accusations(env, id, 0, play);
        play_job(env, id, play);
    }
    Env env;
    base::Hash256 id;
};

// A settled round of four slots: v1 sealed all of its slots but the first, v2 sealed none of its own.
struct LeftOutRound {
    LeftOutRound() {
        for (std::uint64_t seed = 1; id.is_zero() || !fits(); ++seed) {
            REQUIRE(seed < 60);
            env = Env();
            env.miner("m1", 50 * kPlenty);
            for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
            contracts::JobSpec spec = small_job();
            spec.slots = 4;
            spec.seed = seed;
            id = env.post(spec);
            env.hold_auction(id, {{"m1", 500}}, {"v1", "v2", "v3"});
            play_commits(env, id, {});
            play_links(env, id, {});
            play_serves(env, id, {});
        }
        left = *drawn_for("v1").begin();
        const Play play = {
            .verifiers = {{"v1", VerifierManner::kLeavesOut}, {"v2", VerifierManner::kAbsent}}};
        play_verdicts(env, id, play);
        play_merges(env, id, play);
        REQUIRE(contracts::read_round(env.whole(), id, 0)->phase == contracts::RoundPhase::kSettled);
    }
    std::set<std::uint32_t> drawn_for(const char* name) {
        std::set<std::uint32_t> slots;
        for (const auto& one : contracts::assigned_slots(env.state(), id, 0, contracts::Stage::kPanel,
                                                         env.person(name).node_key()))
            slots.insert(one.slot);
        return slots;
    }
    /// Where v2 is silent v3 is heard, so that nobody is drawn once more for it.
    bool fits() {
        const auto of_v2 = drawn_for("v2");
        const auto of_v3 = drawn_for("v3");
        return drawn_for("v1").size() > 1 && !of_v2.empty() &&
               std::includes(of_v3.begin(), of_v3.end(), of_v2.begin(), of_v2.end());
    }
    std::vector<PayoutLine> audits_by(const char* name) {
        auto lines = payout_lines(env.whole(), {.node = env.person(name).node_key(), .round = 0}).lines;
        std::erase_if(lines, [](const PayoutLine& line) { return line.kind != contracts::LineKind::kAudit; });
        return lines;
    }
    void check_line(const std::string& name, const PayoutLine& line) const {
        std::string words;
        for (const std::string& sentence : sentences(line.evidence)) words += sentence + "\n";
        CAPTURE(line.explanation(), words);
        const bool silent = name == "v2";
        const bool left_out = name == "v1" && line.slot == left;
        CHECK((line.reason == contracts::Reason::kAuditSilent) == (silent || left_out));
        REQUIRE(line.evidence.sealing.has_value());
        const SealFacts& sealing = *line.evidence.sealing;
        CHECK(sealing.called_at > 0);
        CHECK(sealing.seal.has_value() != silent);
        CHECK(sealing.sealed_at.has_value() != silent);
        CHECK(sealing.opened != silent);
        CHECK(sealing.left_out == left_out);
        CHECK(line.evidence.opened.has_value() != silent);
        CHECK(json_of(line).at("explanation") == line.explanation());
        CHECK((words.find("Sealed nothing, from height") != std::string::npos) == silent);
        CHECK((words.find("and not this one") != std::string::npos) == left_out);
        if (sealing.seal) CHECK(words.find(sealing.seal->hex()) != std::string::npos);
    }
    Env env;
    base::Hash256 id;
    std::uint32_t left = 0;
};

std::set<std::string> names_of(const Json& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
}

}  // namespace

TEST_CASE("what there is to see of a job is the same once its records have left the state") {
    PlayedJob played;
    const auto seen = [&](const contracts::StateView& state) {
        std::vector<Json> all = {json_of(job_view(state, *contracts::read_job(state, played.id))),
                                 json_of(jobs_of(state)), json_of(network_view(state))};
        for (const char* name : {"m1", "m2", "v1"}) {
            all.push_back(json_of(payout_lines(state, {.node = played.env.person(name).node_key()})));
            all.push_back(json_of(wallet_view(state, played.env.person(name).owner_key())));
        }
        return all;
    };
    REQUIRE(contracts::read_job(played.env.state(), played.id).has_value());
    const std::vector<Json> before = seen(played.env.state());
    played.env.next_block();
    REQUIRE_FALSE(contracts::read_job(played.env.state(), played.id).has_value());
    CHECK(seen(played.env.whole()) == before);
    // A list needs none of them.
    CHECK(json_of(jobs_of(played.env.state())) == json_of(jobs_of(played.env.whole())));
}

TEST_CASE("a job's view asks for no round that has not begun") {
    PlayedJob played;
    contracts::Job job = played.env.job(played.id);
    const auto reads = [&] {
        const CountedState state(played.env.state());
        (void)job_view(state, job);
        return state.reads;
    };
    const std::uint64_t before = reads();
    job.spec.rounds = 10'000;
    CHECK(reads() <= before + 3 * job.spec.slots);  // those of the round that would come next
    CHECK(rounds_begun(job) == job.round + 1);
    job.round = job.spec.rounds;
    CHECK(rounds_begun(job) == job.spec.rounds);
}

TEST_CASE("a job's view has its record's money, its roster, and every slot that was dealt") {
    PlayedJob played;
    const contracts::Job job = played.env.job(played.id);
    const JobView view = job_view(played.env.state(), job);
    CHECK(view.summary.phase == contracts::JobPhase::kEnded);
    CHECK(view.summary.state() == to_text(job.end_reason));
    CHECK(view.summary.escrow.is_zero());
    CHECK(view.summary.spent == job.spent);
    CHECK_FALSE(view.initial_blob.has_value());
    CHECK(view.roster.size() == job.roster.size());
    CHECK(view.verifiers.size() == 3);
    std::size_t dealt = 0;
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round)
        dealt += contracts::list_slots(played.env.whole(), played.id, round).size();
    CHECK(view.slot_rounds.size() == dealt);
    REQUIRE(view.merged_rounds.size() == job.rounds_done);
    CHECK(view.merged_rounds.back().base_root == job.base_root);
    CHECK(view.merged_rounds[0].beacon != view.merged_rounds[1].beacon);
    CHECK(names_of(json_of(view)) == std::set<std::string>{"id",
                                                           "name",
                                                           "phase",
                                                           "end_reason",
                                                           "rounds_done",
                                                           "rounds",
                                                           "escrow",
                                                           "spent",
                                                           "refunded",
                                                           "buyer",
                                                           "submitted_at",
                                                           "deadline",
                                                           "ended_at",
                                                           "member",
                                                           "budget",
                                                           "topped_up",
                                                           "runway",
                                                           "slots",
                                                           "work_units_per_slot_round",
                                                           "clearing_price",
                                                           "link_bond",
                                                           "fee",
                                                           "base_root",
                                                           "initial_blob",
                                                           "machines_least",
                                                           "machines_most",
                                                           "leases",
                                                           "roster",
                                                           "verifiers",
                                                           "enlisted",
                                                           "missed_most",
                                                           "slot_rounds",
                                                           "merged_rounds"});
    CHECK(json_of(jobs_of(played.env.state())).at("jobs").size() == 1);
}

TEST_CASE("payout lines are the ledger's, and unpaid ones are those of who was not paid") {
    PlayedJob played;
    Env& env = played.env;
    const auto all = payout_lines(env.state(), {.node = env.person("m1").node_key()});
    const auto unpaid = payout_lines(env.state(), {.node = env.person("m1").node_key(), .unpaid_only = true});
    REQUIRE_FALSE(unpaid.lines.empty());
    CHECK(unpaid.lines.size() <= all.lines.size());
    CHECK(unpaid.lines.front().reason == contracts::Reason::kPaidAccused);
    CHECK(unpaid.lines.front().returned == unpaid.lines.front().paid);
    CHECK_FALSE(unpaid.lines.front().lost_in_games.is_zero());
    for (const PayoutLine& line : unpaid.lines)
        CHECK((line.paid.is_zero() || !line.lost.is_zero() || !line.lost_in_games.is_zero()));
    const auto first = payout_lines(env.state(), {.node = env.person("m2").node_key(), .round = 0});
    for (const PayoutLine& line : first.lines) CHECK(line.round == 0);
    CHECK(json_of(unpaid.lines.front()).at("explanation") ==
          contracts::explain(contracts::Reason::kPaidAccused));
}

TEST_CASE(
    "a line names what it was decided by: units, roots, who stood behind a merge, and the transaction") {
    PlayedJob played;
    Env& env = played.env;
    const auto cheat = payout_lines(env.state(), {.node = env.person("m1").node_key(), .round = 0});
    REQUIRE(cheat.lines.size() == 1);
    const PayoutEvidence& caught = cheat.lines.front().evidence;
    const auto slot = contracts::read_slot(env.state(), played.id, 0, cheat.lines.front().slot);
    REQUIRE(caught.roots.has_value());
    CHECK(caught.roots->claimed == slot->fault_claimed);
    CHECK(caught.roots->found == slot->fault_found);
    CHECK(caught.roots->claimed != caught.roots->found);
    CHECK(caught.drawn.size() == slot->drawn_units.size());
    CHECK(caught.drawn.back() == "finalise");
    CHECK(caught.verifiers == slot->verifiers);
    CHECK(caught.committed_at == slot->committed_at);
    std::string words;
    for (const std::string& sentence : sentences(caught)) words += sentence + "\n";
    CHECK(words.find(slot->fault_claimed.hex()) != std::string::npos);
    CHECK(words.find(slot->fault_found.hex()) != std::string::npos);

    const auto round = contracts::read_round(env.state(), played.id, 0);
    std::size_t merges = 0;
    for (const char* name : {"v1", "v2", "v3"}) {
        for (const PayoutLine& line :
             payout_lines(env.state(), {.node = env.person(name).node_key(), .round = 0}).lines) {
            if (line.kind == contracts::LineKind::kAudit) {
                REQUIRE(line.evidence.opened.has_value());
                CHECK(line.evidence.opened->height <= round->settled_at);
            }
            if (line.kind != contracts::LineKind::kMerge) continue;
            ++merges;
            REQUIRE(line.evidence.merge.has_value());
            CHECK(line.evidence.merge->slots == round->merged_slots.size());
            CHECK(line.evidence.merge->attested == line.evidence.merge->locked);
        }
    }
    CHECK(merges == 3);
}

TEST_CASE(
    "a slot that a seal left out and a verifier that sealed nothing have words and evidence of their own") {
    LeftOutRound round;
    // The second time without the claims, which leave the state with the round's windows.
    for (const bool archived : {false, true}) {
        CAPTURE(archived);
        if (archived) {
            play_job(round.env, round.id);
            round.env.next_block();
        }
        std::set<std::string> explained;
        std::set<base::Hash256> seals;
        for (const char* name : {"v1", "v2", "v3"}) {
            for (const PayoutLine& line : round.audits_by(name)) {
                CAPTURE(name, line.slot);
                round.check_line(name, line);
                explained.insert(line.explanation());
                if (name == std::string("v1")) seals.insert(line.evidence.sealing->seal.value());
            }
        }
        // What v1 left out stands beside what the same seal names.
        CHECK(seals.size() == 1);
        CHECK(explained.size() == 3);
        CHECK_FALSE(explained.contains(std::string(contracts::explain(contracts::Reason::kAuditSilent))));
    }
}

TEST_CASE("a miner's view adds its standing up, a wallet's its nodes and jobs") {
    PlayedJob played;
    Env& env = played.env;
    const auto miners = miners_of(env.state());
    CHECK(miners.miners.size() == 3);
    for (const MinerView& miner : miners.miners) {
        std::uint64_t sum = 0;
        for (const StandingView& standing : miner.standing) sum += standing.verified_work;
        CHECK(miner.verified_work == sum);
    }
    const WalletView cheat = wallet_view(env.state(), env.person("m1").owner_key());
    CHECK(cheat.stake.count + cheat.bonded.count == env.stake("m1"));
    CHECK(cheat.balance.units() == env.balance("m1"));
    const auto verifier = contracts::read_verifier(env.state(), env.person("v1").node_key());
    CHECK(verifier_view(env.state(), env.person("v1").node_key(), *verifier).audited_units ==
          verifier->audited_units);

    const base::Hash256 open = env.post(small_job());
    const auto key = env.person("m2").node_key();
    const MinerStatus status = miner_status(env.state(), key, *contracts::read_miner(env.state(), key));
    REQUIRE(status.open_jobs.size() == 1);
    CHECK(status.open_jobs[0].job == open);
    CHECK(status.open_jobs[0].lock_job <= *status.miner.stake.plus(status.miner.bonded));
    const WalletView buyer = wallet_view(env.state(), env.person("buyer").owner_key());
    CHECK(buyer.escrow.count == env.job(open).spec.market.budget.units());
}

TEST_CASE("pay that is held for a running round's work is in the escrow that every view shows") {
    Env env;
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2"}) env.verifier(name);
    const base::Hash256 id = env.post(small_job());
    env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2"});
    const contracts::Job job = env.job(id);
    const base::Amount budget = job.spec.market.budget;
    REQUIRE(job.escrow < budget);  // the rest is held for the slots
    CHECK(contracts::escrow_of(env.state(), job) == budget);
    CHECK(job_view(env.state(), job).summary.escrow == budget);
    CHECK(jobs_of(env.state()).jobs.front().escrow == budget);
    CHECK(wallet_view(env.state(), env.person("buyer").owner_key()).escrow.count == budget.units());
    const contracts::Event cleared{.kind = contracts::EventKind::kAuctionCleared, .job = id};
    CHECK(job_event_view(env.state(), cleared)->escrow == budget);
}

TEST_CASE("a network's view counts who takes part, and its money is all somewhere") {
    PlayedJob played;
    const base::Hash256 open = played.env.post(small_job());
    const NetworkView network = network_view(played.env.state());
    CHECK(network.miners == 3);
    CHECK(network.verifiers == 3);
    CHECK(network.jobs == 2);
    CHECK(network.jobs_active == 1);
    CHECK(network.money.delta == 0);
    // The buyer's link bond lies beside the job's budget.
    const contracts::Job job = played.env.job(open);
    const auto link = contracts::read_beacon_member(played.env.state(), open, job.beacon.front().node);
    REQUIRE(link);
    CHECK(link->bond > base::Amount{});
    CHECK(network.money.supply.escrow == job.escrow.plus(link->bond));
}

TEST_CASE("of a job's events, those that a person waits for are told, and a merge has its losses") {
    PlayedJob played;
    std::size_t merged = 0, ended = 0;
    for (const contracts::Event& event : played.env.events()) {
        const auto seen = job_event_view(played.env.state(), event);
        if (event.kind == contracts::EventKind::kTransfer || event.kind == contracts::EventKind::kRoundPhase)
            CHECK_FALSE(seen.has_value());
        if (event.kind == contracts::EventKind::kJobEnded && seen) ++ended;
        if (event.kind != contracts::EventKind::kMerged) continue;
        ++merged;
        REQUIRE(seen.has_value());
        REQUIRE(seen->loss.has_value());
        CHECK(json_of(*seen).contains("held_out_loss"));
        CHECK(json_of(*seen).at("event") == "merged");
    }
    CHECK(merged > 0);
    CHECK(ended == 1);
}

}  // namespace assay::node
