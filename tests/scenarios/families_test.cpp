// SPDX-License-Identifier: Apache-2.0
// Jobs of the other family and the other profile: bought, trained, one of the miners cheating by one ulp,
// recomputed, paid, and trained again alone on every instruction set of this machine.
#include "node/audit/run_record.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "trainer/host/targets.hpp"

namespace assay::tests {

using contracts::Reason;

namespace {

struct Variant {
    program::Family family;
    program::Profile profile;
    const char* tensor;  ///< that the cheat touches
};

ScenarioPlan plan_of(const Variant& variant) {
    ScenarioPlan plan = small_plan();
    plan.job.profile = variant.profile;
    if (variant.family == program::Family::kLlama) {
        program::ModelConfig& model = plan.job.model;
        model.family = variant.family;
        model.heads = 4;
        model.kv_heads = 2;
        model.hidden = 48;
        model.rope_theta = 10'000.0F;
        model.head = program::Head::kUntied;
    }
    const std::string drill =
        "round=0,segment=1,kind=ulp,tensor=" + std::string(variant.tensor) + ",index=300";
    plan.miners[2].drills.push_back(must(node::parse_drill(drill)).planned);
    return plan;
}

void run_variant(const Variant& variant) {
    SmallNetwork network(plan_of(variant));
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(network.verdicts(0, network.net().miners[2]) == std::vector{Reason::kPaidAccused});
    for (const std::size_t honest : {0U, 1U}) {
        const node::Participant& who = network.net().miners[honest];
        CHECK(network.lost_by(who) == 0);
        CHECK(network.paid_to(who) > 0);
    }
    network.check_books();
    for (const auto& replay : network.replay_everything()) CHECK(replay.judgement == node::Judgement::kRight);
    const auto record = node::run_record(network.state(), job);
    for (const std::string& target : trainer::machine_targets()) {
        for (const unsigned threads : {1U, 2U}) {
            INFO(target << ", " << threads << " threads");
            CHECK(network.train_alone(record, target, threads) == job.base_root);
        }
    }
}

}  // namespace

TEST_CASE("a llama job in profile i16 runs from genesis to the books") {
    run_variant({program::Family::kLlama, program::Profile::kI16, "layers.1.mlp.gate_up_proj.weight"});
}

TEST_CASE("a llama job in profile f32 runs from genesis to the books") {
    run_variant({program::Family::kLlama, program::Profile::kF32, "layers.0.self_attn.qkv_proj.weight"});
}

TEST_CASE("a gpt2 job in profile i16 runs from genesis to the books") {
    run_variant({program::Family::kGpt2, program::Profile::kI16, "h.1.mlp.c_fc.weight"});
}

}  // namespace assay::tests
