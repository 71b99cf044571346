// SPDX-License-Identifier: Apache-2.0
// The strategies of the simulator (assay sim run --list) as real processes: what each cheat comes to in the
// printed settlement. docs/security.md names the scenario of every row.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "node/audit/run_record.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/run_assay.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::LineKind;
using contracts::Reason;
using node::Conduct;

namespace {

constexpr std::uint32_t kSegments = 2;  // of small_plan()

/// A miner that does not do its work, and what it comes to.
struct Cheat {
    std::string what;
    std::vector<std::string> drills = {};  ///< as --drill has them
    std::vector<Conduct> conducts = {};
    std::uint32_t round = 0;  ///< the one that the reason is of
    Reason reason = Reason::kMismatch;
    std::uint32_t fault_unit = 0;  ///< of a mismatch
};

/// The fault in every segment of a round.
std::vector<std::string> throughout(const std::string& kind, std::uint32_t round) {
    std::vector<std::string> drills;
    for (std::uint32_t segment = 0; segment < kSegments; ++segment) {
        drills.push_back("round=" + std::to_string(round) + ",segment=" + std::to_string(segment) +
                         ",kind=" + kind);
    }
    return drills;
}

/// Two honest miners first, then the cheats. Windows that a silent party lets pass are of seconds.
ScenarioPlan plan_with(const std::vector<Cheat>& cheats) {
    ScenarioPlan plan = small_plan();
    plan.miners = {honest_miner(1'000), honest_miner(1'010)};
    for (const Cheat& cheat : cheats) {
        node::MinerPlan miner = honest_miner(1'020 + 10 * plan.miners.size());
        for (const std::string& drill : cheat.drills) {
            miner.drills.push_back(must(node::parse_drill(drill)).planned);
        }
        miner.conducts = cheat.conducts;
        plan.miners.push_back(std::move(miner));
    }
    return plan;
}

/// Its reason, and that it has less than before.
void check_cheat(const SmallNetwork& network, const Cheat& cheat, const node::Participant& cheater) {
    INFO(cheater.name << ": " << cheat.what);
    CHECK(network.verdicts(cheat.round, cheater) == std::vector{cheat.reason});
    CHECK(network.lost_by(cheater) > network.paid_to(cheater));
    const contracts::Job job = network.job();
    for (const auto& slot : contracts::list_slots(network.state(), job.id, cheat.round)) {
        if (slot.miner != cheater.node || cheat.reason != Reason::kMismatch) continue;
        CHECK(slot.fault_unit == cheat.fault_unit);
        CHECK(network.lost_by(cheater) == slot.bond.units());
    }
}

void check_zoo(const SmallNetwork& network, const std::vector<Cheat>& cheats) {
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
            CHECK(network.verdicts(round, who) == std::vector{Reason::kPaid});
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

}  // namespace

TEST_CASE(
    "a swarm of fresh names is caught whole: zero, noise, skipped steps, another slot's work, a laundered "
    "state, a bad finalise") {
    const std::vector<Cheat> cheats{
        {.what = "zero", .drills = throughout("zero", 0)},
        {.what = "noise", .drills = throughout("noise", 0)},
        {.what = "skipped-steps", .drills = {"round=0,segment=1,kind=skipped-steps"}, .fault_unit = 1},
        {.what = "wrong-shard, copied", .drills = throughout("wrong-shard", 0)},
        {.what = "laundered-state", .drills = {"round=0,segment=0,kind=laundered-state"}},
        {.what = "bad-finalise", .drills = {"round=0,kind=bad-finalise"}, .fault_unit = kSegments},
    };
    SmallNetwork network(plan_with(cheats));
    network.run();
    check_zoo(network, cheats);
    CHECK(network.job().roster.size() == 2);
}

}  // namespace assay::tests
