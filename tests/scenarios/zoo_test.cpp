// SPDX-License-Identifier: Apache-2.0
// The strategies of the simulator (assay sim run --list) as real processes: what each cheat comes to in the
// printed settlement. docs/security.md names the scenario of every row.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "contracts/program/round_plan.hpp"
#include "node/audit/run_record.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/run_assay.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::LineKind;
using contracts::Reason;
using node::Misconduct;

namespace {

constexpr std::uint32_t kSegments = 2;  // of small_plan()

/// A miner that does not do its work, and what it comes to.
struct ZooCheat {
    std::string what;
    std::vector<std::string> drills = {};  ///< as --drill has them
    std::vector<Misconduct> conducts = {};
    Reason reason = Reason::kPaidAccused;  ///< of its slots in the round in which it is caught
    std::uint32_t fault_unit = 0;          ///< of an accused slot
    /// Rounds of which it cheats in none. In them it is paid, or its slots are of `before`.
    std::uint32_t honest_rounds = 0;
    Reason before = Reason::kPaid;
};

/// The fault in every segment of the rounds from `round` on.
std::vector<std::string> throughout(const std::string& kind, std::uint32_t round, std::uint32_t rounds) {
    std::vector<std::string> drills;
    for (; round < rounds; ++round) {
        for (std::uint32_t segment = 0; segment < kSegments; ++segment) {
            drills.push_back("round=" + std::to_string(round) + ",segment=" + std::to_string(segment) +
                             ",kind=" + kind);
        }
    }
    return drills;
}

/// Nobody can know that all asks are in; a dozen processes take longer to seal theirs than five.
ScenarioPlan zoo_plan() {
    ScenarioPlan plan = small_plan();
    plan.params.ask_commit_window = 100 * kPatience;
    return plan;
}

/// Two honest miners first, then the cheats.
ScenarioPlan plan_with(const std::vector<ZooCheat>& cheats) {
    ScenarioPlan plan = zoo_plan();
    plan.miners = {honest_miner(1'000), honest_miner(1'010)};
    for (const ZooCheat& cheat : cheats) {
        node::MinerPlan miner = honest_miner(1'020 + 10 * plan.miners.size());
        for (const std::string& drill : cheat.drills) {
            miner.drills.push_back(must(node::parse_drill(drill)).planned);
        }
        miner.conducts = cheat.conducts;
        plan.miners.push_back(std::move(miner));
    }
    return plan;
}

/// From the first round in which it is not what it was before its slots have the cheat's reason, and it has
/// lost their bonds or a part of them, more than it was ever paid. Who is accused may work on: its claims die
/// in games that take their time, and who concedes stays a member. Everybody else holds no slot any more.
void check_cheat(const SmallNetwork& network, const ZooCheat& cheat, const node::Participant& cheater) {
    INFO(cheater.name << ": " << cheat.what);
    const contracts::Job job = network.job();
    bool caught = false;
    std::uint64_t bonds = 0;
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
        INFO("round " << round);
        const auto reasons = network.verdicts(round, cheater);
        const bool accused = cheat.reason == Reason::kPaidAccused;
        if (caught && !accused) CHECK(reasons.empty());
        const bool as_before = reasons.empty() || reasons.front() == cheat.before;
        for (const Reason reason : reasons) CHECK(reason == (as_before ? cheat.before : cheat.reason));
        if (as_before) continue;
        caught = true;
        CHECK(round >= cheat.honest_rounds);
        for (const auto& slot : contracts::list_slots(network.state(), job.id, round)) {
            if (slot.miner != cheater.node) continue;
            bonds += slot.bond.units();
            if (accused) CHECK(slot.fault_unit == cheat.fault_unit);
        }
    }
    CHECK(caught);
    if (cheat.reason == Reason::kNoCommitAgain) {
        CHECK(network.lost_by(cheater) > 0);
        CHECK(network.lost_by(cheater) < bonds);
    } else {
        CHECK(network.lost_by(cheater) == bonds);
    }
    INFO("paid " << network.paid_to(cheater) << ", lost " << network.lost_by(cheater));
    CHECK(network.lost_by(cheater) > network.paid_to(cheater));
}

void check_zoo(const SmallNetwork& network, const std::vector<ZooCheat>& cheats) {
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    for (std::size_t i = 0; i < cheats.size(); ++i) {
        check_cheat(network, cheats[i], network.net().miners[2 + i]);
    }
    for (const std::size_t honest : {0U, 1U}) {
        const node::Participant& who = network.net().miners[honest];
        INFO(who.name);
        CHECK(network.lost_by(who) == 0);
        for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
            const auto reasons = network.verdicts(round, who);
            CHECK((round > 0 || !reasons.empty()));  // later a slow one may be dealt none
            for (const Reason reason : reasons) CHECK(reason == Reason::kPaid);
        }
    }
    for (const auto& who : network.net().verifiers) {
        INFO(who.name);
        CHECK(network.lost_by(who) == 0);
        CHECK(network.paid_to(who) > 0);
    }
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

/// Above twenty times what a slot of small_plan() is paid at the cap.
const base::Amount kTrap = base::units(1'000 * base::kUnitsPerToken);

/// `assay job submit` of the network's job with a gain bound that would make every bond a trap.
void refuse_trap(SmallNetwork& network) {
    node::JobFile trap = network.job_file();
    trap.spec.security.gain_bound = kTrap;
    const auto& net = network.net();
    const auto file = net.plan.home / "trap.toml";
    std::ofstream(file) << node::job_file_text(trap);
    const auto run =
        test::run_program(test::built_program_path("assay"),
                          {"job", "submit", file.string(), "--home", net.buyer.home.root.string(), "--node",
                           network.network().node_address(), "--genesis",
                           (net.sequencer.home.ledger() / "genesis.bin").string(), "--passphrase-file",
                           net.passphrase.string()});
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(run.err.find("gain_bound_too_high") != std::string::npos);
}

}  // namespace

TEST_CASE(
    "a swarm of fresh names is caught whole: zero, noise, skipped steps, another slot's work, a laundered "
    "state, a bad finalise") {
    const std::vector<ZooCheat> cheats{
        {.what = "zero", .drills = throughout("zero", 0, 1)},
        {.what = "noise", .drills = throughout("noise", 0, 1)},
        {.what = "skipped-steps", .drills = {"round=0,segment=1,kind=skipped-steps"}, .fault_unit = 1},
        {.what = "wrong-shard, copied", .drills = throughout("wrong-shard", 0, 1)},
        {.what = "laundered-state", .drills = {"round=0,segment=0,kind=laundered-state"}},
        {.what = "bad-finalise", .drills = {"round=0,kind=bad-finalise"}, .fault_unit = kSegments},
    };
    SmallNetwork network(plan_with(cheats));
    network.run();
    check_zoo(network, cheats);
}

TEST_CASE(
    "two lazy names, a miner silent after the draw, a squatter, a stale base and work of the round before "
    "cost more than they bring") {
    constexpr std::uint32_t kRounds = 3;
    const std::vector<ZooCheat> cheats{
        {.what = "lazy", .drills = throughout("lazy", 0, 1)},
        {.what = "lazy, another name", .drills = throughout("lazy", 0, 1)},
        {.what = "silent-after-draw",
         .conducts = {Misconduct::kSilentAfterDraw},
         .reason = Reason::kSilentAfterDraw},
        {.what = "squatter",
         .conducts = {Misconduct::kSquatter},
         .reason = Reason::kNoCommitAgain,
         .honest_rounds = 1,
         .before = Reason::kNoCommit},
        // A miner that was slow in round 0 may be dealt nothing in the next: the fault waits for it.
        {.what = "stale-base",
         .drills = {"round=1,kind=stale-base", "round=2,kind=stale-base"},
         .honest_rounds = 1},
        {.what = "replayed", .drills = throughout("replayed", 1, kRounds), .honest_rounds = 1},
    };
    ScenarioPlan plan = plan_with(cheats);
    plan.job.rounds = kRounds;
    plan.params.commit_window = 160 * kPatience;
    plan.params.reveal_window = 80 * kPatience;
    SmallNetwork network(plan);
    network.run();
    check_zoo(network, cheats);
}

namespace {
/// Games about merges: this verifier opened them all, or let the time for them pass, and lost each.
std::uint32_t accusations_lost(const SmallNetwork& network, const node::Participant& false_merger) {
    std::uint32_t lost = 0;
    for (const contracts::Game& game : network.games()) {
        if (game.kind != contracts::ClaimKind::kMerge) continue;
        CHECK(game.challenger == false_merger.node);
        CHECK((game.accuses && !game.claimant_lost));
        ++lost;
    }
    return lost;
}
}  // namespace

TEST_CASE("verifiers that make up roots, merge falsely or censor, and a withheld update, earn nothing") {
    constexpr std::size_t kHonest = 3, kRubberStamp = 3, kCoinFlip = 4, kBadMerge = 5, kCensor = 6;
    constexpr std::size_t kWithholding = 3;  // of the miners
    ScenarioPlan plan = zoo_plan();
    plan.miners.push_back(honest_miner(1'300));
    plan.miners[kWithholding].conducts = {Misconduct::kWithheldUpdate};
    plan.verifiers = 7;
    plan.verifier_misconducts = {{kRubberStamp, Misconduct::kRubberStamp},
                                 {kCoinFlip, Misconduct::kCoinFlip},
                                 {kBadMerge, Misconduct::kBadMerge},
                                 {kCensor, Misconduct::kCensoredMerge}};
    plan.slots = 16;
    // Who is drawn to recompute `finalise` has the update, whoever withholds it: that is drawn rarely here.
    plan.params.probation_rounds = 0;
    plan.job.security.finalise_threshold = UINT64_MAX / 64;
    plan.params.storage_window = 160 * kPatience;
    SmallNetwork network(plan);
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    const auto reasons_of = [&](LineKind kind, const node::Participant& who) {
        std::map<Reason, std::uint32_t> reasons;
        for (const auto& line : network.lines(kind)) {
            if (line.node == who.node) ++reasons[line.reason];
        }
        return reasons;
    };
    const auto& verifiers = network.net().verifiers;
    for (std::size_t i = 0; i < kHonest; ++i) {
        INFO(verifiers[i].name);
        CHECK(network.lost_by(verifiers[i]) == 0);
        CHECK(network.paid_to(verifiers[i]) > 0);
    }
    for (const std::size_t cheat : {kRubberStamp, kCoinFlip}) {
        INFO(verifiers[cheat].name);
        CHECK(reasons_of(LineKind::kAudit, verifiers[cheat])[Reason::kAuditAccuses] > 0);
        CHECK(network.lost_by(verifiers[cheat]) > network.paid_to(verifiers[cheat]));
    }
    CHECK_FALSE(reasons_of(LineKind::kAudit, verifiers[kRubberStamp]).contains(Reason::kPaidAudit));
    auto false_merges = reasons_of(LineKind::kMerge, verifiers[kBadMerge]);
    const std::uint32_t accusing = false_merges[Reason::kMergeAccuses];
    CHECK(accusing > 0);
    CHECK(false_merges.size() == 1);
    CHECK(accusations_lost(network, verifiers[kBadMerge]) == accusing);
    CHECK(network.lost_by(verifiers[kBadMerge]) > 0);
    auto censored = reasons_of(LineKind::kMerge, verifiers[kCensor]);
    CHECK(censored[Reason::kMergeFewerSlots] == job.spec.rounds);
    CHECK(network.lost_by(verifiers[kCensor]) == 0);
    const auto& miners = network.net().miners;
    for (std::size_t i = 0; i < kWithholding; ++i) {
        INFO(miners[i].name);
        CHECK(network.lost_by(miners[i]) == 0);
        for (const auto& [reason, count] : reasons_of(LineKind::kSlot, miners[i])) {
            INFO(contracts::to_text(reason));
            CHECK((reason == Reason::kPaid || reason == Reason::kPaidUndecided ||
                   reason == Reason::kPaidAccused));
        }
    }
    // What no verifier recomputed is nowhere: unpaid, and not merged.
    for (const auto& line : network.lines(LineKind::kSlot)) {
        if (line.node != miners[kWithholding].node) continue;
        const auto slot = contracts::read_slot(network.state(), job.id, line.round, line.slot);
        REQUIRE(slot.has_value());
        const auto& units = slot->drawn_units;
        if (std::find(units.begin(), units.end(), kSegments) == units.end())
            CHECK(line.reason == Reason::kNotStored);
    }
    auto withheld = reasons_of(LineKind::kSlot, miners[kWithholding]);
    CHECK(withheld[Reason::kNotStored] > withheld[Reason::kPaid] + withheld[Reason::kPaidUndecided]);
    network.check_books();
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

TEST_CASE(
    "a lazy miner with two of three verifiers on its side loses to the third, drawn or not; a trap job "
    "beside it "
    "is refused by name") {
    ScenarioPlan plan = zoo_plan();
    plan.miners[0].drills.push_back(must(node::parse_drill("segment=0,kind=lazy")).planned);
    plan.verifiers = 3;
    plan.verifier_misconducts = {{1, Misconduct::kColludingPanel}, {2, Misconduct::kColludingPanel}};
    plan.verifier_flags[0] = {"--challenge", "1"};
    SmallNetwork network(plan);
    refuse_trap(network);
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    const node::Participant& lazy = network.net().miners[0];
    std::set<std::pair<std::uint32_t, std::uint32_t>> dead;
    for (const contracts::Game& game : network.games())
        if (game.claimant == lazy.node && game.claimant_lost) dead.insert({game.round, game.claim});
    std::size_t made_up = 0;
    for (const auto& line : network.lines(LineKind::kSlot)) {
        if (line.node != lazy.node) continue;
        CHECK(dead.contains({line.round, line.slot}));
        ++made_up;
    }
    CHECK(made_up > 0);
    CHECK(network.paid_to(lazy) == 0);
    CHECK(network.lost_by(lazy) > 0);
    // Whoever vouched for it loses what it locked; the honest one loses nothing.
    CHECK(network.lost_by(network.net().verifiers[0]) == 0);
    for (const contracts::Game& game : network.games()) {
        CHECK(game.claimant_lost);
        if (game.called) CHECK(network.lost_by(network.participant(game.claimant)) > 0);
    }
    for (const std::size_t honest : {1U, 2U}) CHECK(network.lost_by(network.net().miners[honest]) == 0);
    network.check_books();
}

}  // namespace assay::tests
