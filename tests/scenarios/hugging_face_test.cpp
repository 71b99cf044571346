// SPDX-License-Identifier: Apache-2.0
// Models that transformers saved, measured and exported by the built program, and loaded by transformers
// again: the same bits in every tensor, the same logits and loss up to the rounding of another order of sums.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "contracts/program/program.hpp"
#include "contracts/program/reference_machine.hpp"
#include "tests/scenarios/run_assay.hpp"
#include "tests/scenarios/small_text.hpp"
#include "tests/support/catch.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/model/model_folder.hpp"

namespace assay::tests {

using nlohmann::json;
using test::ProgramRun;
namespace fs = std::filesystem;

namespace {

/// The same of two logits, as a share of the largest.
constexpr double kLogitTolerance = 1e-5;

/// Models of transformers and a text packed with the tokenizer of each family: once for all cases.
struct Models {
    test::TemporaryFolder folder;

    Models() {
        fs::create_directories(folder / "models");
        const ProgramRun made = run_python("transformers_make.py", {folder / "models"});
        INFO(made.err);
        REQUIRE(made.code == 0);
        std::ofstream(folder / "text.txt") << small_text(3);
        for (const char* kind : {"gpt2", "llama-tied"}) {
            run_assay({"data", "pack", folder / "text.txt", "--out", folder / ("data-" + std::string(kind)),
                       "--tokenizer", model(kind)});
        }
    }
    [[nodiscard]] std::string model(const std::string& kind) const { return folder / ("models/" + kind); }
    [[nodiscard]] std::string tokens(const std::string& kind) const {
        return folder /
               (kind.starts_with("gpt2") ? "data-gpt2/held_out.bin" : "data-llama-tied/held_out.bin");
    }
};

const Models& models() {
    static const Models made;
    return made;
}

/// Logits of the first sequence, by the operators of contracts/arithmetic.
std::vector<float> logits(const std::string& folder, const std::string& tokens) {
    const auto model = trainer::read_model_folder(folder);
    REQUIRE(model.ok());
    const auto stream = trainer::read_token_file(tokens, model->config.vocabulary);
    REQUIRE(stream.ok());
    const program::Program program = program::build_evaluate_program(model->config, program::Profile::kF32);
    const std::vector<std::uint32_t> first(stream->begin(), stream->begin() + model->config.context + 1);
    program::ReferenceMachine machine(program, first);
    std::size_t parameter = 0;
    program::TensorId head = 0;
    for (program::TensorId id = 0; id < program.tensors.size(); ++id) {
        if (program.tensors[id].name == "lm_head") head = id;
        if (program.tensors[id].role != program::TensorRole::kParameter) continue;
        const program::TensorInfo& info = program.parameters[parameter++];
        std::copy_n(model->parameters.begin() + static_cast<std::ptrdiff_t>(info.offset), info.size(),
                    machine.values(id).begin());
    }
    for (const program::Operator& one : program.operators) machine.execute(one, {});
    return {machine.values(head).begin(), machine.values(head).end()};
}

struct Trip {
    const char* kind;
    std::vector<std::string> options;  ///< of `assay model export`
    json measured;                     ///< what `assay model eval` says of the original
    json report;                       ///< what transformers says of the exported folder
};

/// Measured and exported by assay; what `transformers_check.py` is to compare.
std::vector<std::string> export_model(Trip& trip) {
    INFO(trip.kind);
    const std::string kind = trip.kind;
    const std::string original = models().model(kind);
    const std::string exported = models().folder / ("exported-" + kind);
    const std::string tokens = models().tokens(kind);
    trip.measured = run_assay({"model", "eval", "--model", original, "--data", tokens});
    std::vector<std::string> words = {"model", "export", "--model", original, "--out", exported};
    words.insert(words.end(), trip.options.begin(), trip.options.end());
    const json root = run_assay(words).at("parameters_root");
    CHECK(run_assay({"model", "show", exported}).at("parameters_root") == root);
    CHECK(run_assay({"model", "eval", "--model", exported, "--data", tokens}).at("loss_bits") ==
          trip.measured.at("loss_bits"));
    CHECK(fs::exists(fs::path(exported) / "model.safetensors.index.json") == !trip.options.empty());
    const std::vector<float> ours = logits(exported, tokens);
    const std::string file = models().folder / ("logits-" + kind);
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(ours.data()),
               static_cast<std::streamsize>(ours.size() * sizeof(float)));
    return {exported, tokens, "--original", original, "--logits", file};
}

}  // namespace

TEST_CASE("models of transformers come back bit for bit, with the same logits and loss") {
    std::vector<Trip> trips = {{"gpt2", {}, {}, {}},
                               {"gpt2-bare", {"--shard-bytes", "20000"}, {}, {}},
                               {"llama-tied", {}, {}, {}},
                               {"llama-untied", {"--shard-bytes", "40000"}, {}, {}},
                               {"llama-bf16", {}, {}, {}}};
    json list = json::array();
    for (Trip& trip : trips) list.push_back(export_model(trip));
    std::ofstream(models().folder / "list.json") << list.dump();
    const ProgramRun theirs = run_python("transformers_check.py", {"--list", models().folder / "list.json"});
    INFO(theirs.err);
    INFO(theirs.out);
    REQUIRE(theirs.code == 0);
    const json reports = json::parse(theirs.out);
    REQUIRE(reports.size() == trips.size());
    for (std::size_t i = 0; i < trips.size(); ++i) {
        const Trip& trip = trips[i];
        const json& report = reports[i];
        INFO(trip.kind << ": ours " << trip.measured.dump() << ", transformers " << report.dump());
        CHECK(report.at("different").empty());
        CHECK(report.at("mismatches").empty());
        CHECK(trip.measured.at("tokens") == report.at("tokens"));
        CHECK(std::abs(trip.measured.at("loss").get<double>() - report.at("loss").get<double>()) <
              kLossTolerance);
        CHECK(report.at("logit_difference").get<double>() <
              kLogitTolerance * report.at("largest_logit").get<double>());
    }
}

TEST_CASE("a folder that cannot be used ends with the exit code and the name of what is wrong") {
    const fs::path broken = models().folder / "broken";
    fs::copy(models().model("llama-tied"), broken, fs::copy_options::recursive);
    json config = json::parse(test::file_text(broken / "config.json"));
    config["rope_scaling"] = {{"rope_type", "llama3"}, {"factor", 8.0}};
    std::ofstream(broken / "config.json") << config.dump();
    const auto eval = [&] {
        return test::run_program(
            test::built_program_path("assay"),
            {"model", "eval", "--model", broken, "--data", models().tokens("llama-tied")});
    };
    const ProgramRun scaled = eval();
    CHECK(scaled.code == 2);
    CHECK(scaled.err.find("\"rope_scaling\" is {\"factor\":8.0,\"rope_type\":\"llama3\"}") !=
          std::string::npos);
    config.erase("rope_scaling");
    std::ofstream(broken / "config.json") << config.dump();
    fs::remove(broken / "model.safetensors");
    CHECK(eval().code == 3);
    fs::copy_file(fs::path(models().model("gpt2")) / "model.safetensors", broken / "model.safetensors");
    const ProgramRun other = eval();
    CHECK(other.code == 2);
    CHECK(other.err.find("is missing") != std::string::npos);
}

}  // namespace assay::tests
