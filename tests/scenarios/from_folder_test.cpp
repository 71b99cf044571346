// SPDX-License-Identifier: Apache-2.0
// Training bought for a model that exists already: weights in from a folder, through a network with one
// cheat, and out again as a folder.
#include <fstream>
#include <nlohmann/json.hpp>

#include "contracts/program/initial.hpp"
#include "node/audit/run_record.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/run_assay.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/scenarios/small_text.hpp"
#include "tests/support/catch.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/pack.hpp"
#include "trainer/model/model_folder.hpp"

namespace assay::tests {

using contracts::Reason;
using nlohmann::json;
using test::ProgramRun;
namespace fs = std::filesystem;

namespace {

program::ModelConfig small_llama() {
    return {.family = program::Family::kLlama,
            .layers = 2,
            .width = 32,
            .heads = 4,
            .context = 32,
            .vocabulary = 400,
            .kv_heads = 2,
            .hidden = 48,
            .rope_theta = 10'000.0F,
            .norm_epsilon = 1e-6F,
            .head = program::Head::kUntied};
}

/// A folder as `assay model export` writes it, in several files, of a model that no seed of a job gives: its
/// tokenizer comes from a text of its own.
fs::path exported_model(const test::TemporaryFolder& folder) {
    std::ofstream(folder / "text.txt") << small_text(5);
    trainer::PackOptions packing;
    packing.texts = {folder / "text.txt"};
    packing.out = folder / "data";
    packing.vocabulary = small_llama().vocabulary;
    (void)must(trainer::pack(packing));
    const auto tokenizer = must(trainer::read_file(folder / "data/tokenizer.json", 1U << 24U));
    std::vector<float> weights = program::initial_parameters(small_llama(), 99);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= i % 3 == 0 ? 1.5F : 0.75F;
    (void)must(trainer::write_model_folder(folder / "made",
                                           {.config = small_llama(),
                                            .tokenizer_json = std::string(base::as_text(tokenizer)),
                                            .provenance = {},
                                            .ids = {.begin = 1, .end = {2, 3}, .pad = 4}},
                                           weights));
    run_assay(
        {"model", "export", "--model", folder / "made", "--out", folder / "model", "--shard-bytes", "20000"});
    REQUIRE(fs::exists(folder / "model/model.safetensors.index.json"));
    return folder / "model";
}

}  // namespace

TEST_CASE("a job that starts from a model folder is trained, recomputed and paid, and gives a folder again") {
    const test::TemporaryFolder folder;
    ScenarioPlan plan = small_plan();
    plan.from = exported_model(folder);
    plan.job.model = small_llama();
    plan.miners[2].drills.push_back(
        must(node::parse_drill("round=0,segment=0,kind=ulp,tensor=layers.1.mlp.down_proj.weight,index=7"))
            .planned);
    SmallNetwork network(plan);
    const node::JobFile& file = network.job_file();
    CHECK(file.spec.model == small_llama());
    network.run();
    const contracts::Job job = network.job();
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK_FALSE(job.spec.initial_blob.is_zero());
    CHECK(job.base_blob != job.spec.initial_blob);

    // The cheat of round 0, whose base is the buyer's file, is caught; the others are paid.
    CHECK(contracts::read_round(network.state(), job.id, 0)->base_blob == job.spec.initial_blob);
    CHECK(network.verdicts(0, network.net().miners[2]) == std::vector{Reason::kMismatch});
    for (const std::size_t honest : {0U, 1U}) {
        CHECK(network.lost_by(network.net().miners[honest]) == 0);
        CHECK(network.paid_to(network.net().miners[honest]) > 0);
    }
    network.check_books();
    for (const auto& replay : network.replay_everything()) CHECK(replay.judgement == node::Judgement::kRight);

    // Training alone: the same model, from the weights that `model eval` measures.
    const auto record = node::run_record(network.state(), job);
    CHECK(network.train_alone(record, "scalar") == job.base_root);
    const fs::path home = network.net().plan.home;
    const json alone = run_assay(
        {"model", "train", home / "job.toml", "--record", home / "record.json", "--out", folder / "alone"});
    CHECK(alone.at("model_root") == job.base_root.hex());
    const auto trained = must(trainer::read_model_folder(folder / "alone"));
    CHECK(trained.ids == trainer::SpecialIds{.begin = 1, .end = {2, 3}, .pad = 4});
    CHECK(trained.provenance.initial_blob == job.spec.initial_blob.hex());
    const auto sequences = std::to_string(program::kHeldOutSequences);
    const json measured = run_assay(
        {"model", "eval", "--model", plan.from, "--data", file.held_out.string(), "--sequences", sequences});
    CHECK(alone.at("loss").front().at("held_out") == measured.at("loss"));
    CHECK(alone.at("loss").back().at("held_out") < measured.at("loss"));

    // What the home of a node gives as a folder is what was trained alone.
    run_assay({"model", "export", "--home", home, "--job", job.id.hex(), "--out", folder / "bought"});
    const json bought = run_assay({"model", "show", folder / "bought"});
    CHECK(bought.at("rounds") == job.spec.rounds);
    CHECK(bought.at("initial_blob") == job.spec.initial_blob.hex());
    CHECK(bought.at("parameters_root") ==
          run_assay({"model", "show", folder / "alone"}).at("parameters_root"));
    const json replayed =
        run_assay({"audit", "replay", "--home", home, "--job", job.id.hex(), "--round", "0"});
    CHECK(replayed.at("ok") == true);

    // All of what was made of the given weights can be recomputed, and the audit says that it begins with
    // them.
    for (const auto& [flag, bytes] :
         std::vector<std::pair<std::string, fs::path>>{{"--home", home}, {"--job-file", home / "job.toml"}}) {
        const json audited =
            run_assay({"audit", "model", folder / "bought", flag, bytes, "--minutes", "5", "--units", "8"});
        CHECK(audited.at("ok") == true);
        CHECK(audited.at("recomputed") == 8);
        CHECK(audited.at("initial_blob") == job.spec.initial_blob.hex());
    }
}

}  // namespace assay::tests
