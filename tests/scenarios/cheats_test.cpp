// SPDX-License-Identifier: Apache-2.0
// Planted cheats of each kind, in the first segment of a round and in the last one, whose end the update is
// made from.
#include "contracts/program/round_plan.hpp"
#include "node/audit/run_record.hpp"
#include "node/devnet/story.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::LineKind;
using contracts::Reason;

namespace {

struct Cheat {
    std::size_t miner = 0;  ///< place in the plan
    std::string drill;      ///< as --sabotage has it, without round and segment
    std::string finding;    ///< what the verifiers' sentence must name
};

const std::vector<Cheat> kCheats = {
    {2, "kind=lazy", ": claimed loss bits 0x"},
    {3, "kind=flip,tensor=wte.weight,index=5,bit=7", "boundary "},
    {4, "kind=ulp,tensor=h.1.mlp.c_fc.weight,index=300", "boundary "},
};

ScenarioPlan plan_with_cheats(std::uint32_t segment) {
    ScenarioPlan plan = small_plan();
    plan.miners = {honest_miner(1'000), honest_miner(1'100)};
    for (const Cheat& cheat : kCheats) {
        const std::string where = "round=0,segment=" + std::to_string(segment) + ",";
        node::MinerPlan miner = honest_miner(1'200 + cheat.miner);
        miner.drills.push_back(must(node::parse_drill(where + cheat.drill)).planned);
        plan.miners.push_back(std::move(miner));
    }
    return plan;
}

void check_caught(const SmallNetwork& network, const Cheat& cheat, std::uint32_t segment) {
    const node::Participant& cheater = network.net().miners[cheat.miner];
    INFO(cheater.name << " " << cheat.drill << " in segment " << segment);
    const contracts::Job job = network.job();
    CHECK(network.verdicts(0, cheater) == std::vector{Reason::kPaidAccused});
    std::uint64_t bonds = 0;
    for (const auto& slot : contracts::list_slots(network.state(), job.id, 0)) {
        if (slot.miner != cheater.node) continue;
        CHECK(slot.fault_unit == segment);
        CHECK(slot.fault_claimed != slot.fault_found);
        CHECK(slot.bond.units() > 0);
        bonds += slot.bond.units();
        const std::string finding = node::finding_of(network.net(), job.id, 0, slot.slot, slot.fault_unit);
        INFO(finding);
        CHECK(finding.find(cheat.finding) != std::string::npos);
    }
    // The claim dies in its accuser's game: bond and pay are gone.
    CHECK(network.lost_by(cheater) == bonds);
    CHECK(network.lost_by(cheater) > network.paid_to(cheater));
    for (const auto& line : network.lines(LineKind::kSlot)) {
        if (line.node != cheater.node || line.round != 0) continue;
        const auto games = network.games();
        CHECK(std::any_of(games.begin(), games.end(), [&](const contracts::Game& game) {
            return game.claimant_lost && game.claimant == cheater.node && game.claim == line.slot &&
                   game.returned == line.paid;
        }));
    }
}

void check_cheats_in(std::uint32_t segment) {
    SmallNetwork network(plan_with_cheats(segment));
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    for (const Cheat& cheat : kCheats) check_caught(network, cheat, segment);
    for (const std::size_t honest : {0U, 1U}) {
        const node::Participant& who = network.net().miners[honest];
        INFO(who.name);
        CHECK(network.lost_by(who) == 0);
        CHECK(network.paid_to(who) > 0);
        for (std::uint32_t round = 0; round < job.spec.rounds; ++round) {
            for (const Reason reason : network.verdicts(round, who)) CHECK(reason == Reason::kPaid);
        }
    }
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    CHECK(contracts::read_round(network.state(), job.id, 0)->merged_slots.size() == 2);
    network.check_books();
    std::size_t wrong = 0;
    for (const auto& replay : network.replay_everything()) {
        CHECK(replay.judgement == node::Judgement::kRight);
        if (replay.first_wrong() == nullptr) continue;
        ++wrong;
        CHECK(replay.first_wrong()->unit == segment);
    }
    CHECK(wrong == kCheats.size());
    CHECK(network.train_alone(node::run_record(network.state(), job)) == job.base_root);
}

}  // namespace

TEST_CASE("cheats in the first segment are caught, named, unpaid and forfeited, and harm nobody else") {
    check_cheats_in(0);
}

TEST_CASE("cheats in the last segment are caught, named, unpaid and forfeited, and harm nobody else") {
    check_cheats_in(program::RoundPlan(small_plan().job).segments() - 1);
}

}  // namespace assay::tests
