// SPDX-License-Identifier: Apache-2.0
// A model trained by the built program, measured by `assay model eval` and by transformers.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/scenarios/run_assay.hpp"
#include "tests/scenarios/small_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"

namespace assay::tests {

using nlohmann::json;
using test::ProgramRun;
namespace fs = std::filesystem;

namespace {

constexpr const char* kJob = R"([job]
name = "tiny"
slots = 2
rounds = 2
seed = 11
[model]
layers = 2
width = 64
heads = 2
context = 64
vocabulary = 384
[data]
manifest = "data/manifest.json"
[train]
inner_steps = 6
batch = 2
learning_rate = 0.003
[market]
max_price = "1000u"
budget = "5"
deadline = 1000
[security]
segment_steps = 3
)";

/// A packed text, a job on it and the model that `assay model train` made of them: once for all cases.
struct TrainedModel {
    test::TemporaryFolder folder;
    json report;

    TrainedModel() {
        std::ofstream(folder / "text.txt") << small_text(3);
        std::ofstream(folder / "job.toml") << kJob;
        run_assay({"data", "pack", folder / "text.txt", "--out", folder / "data", "--vocabulary", "384"});
        report = run_assay({"model", "train", folder / "job.toml", "--out", folder / "model"});
    }
    [[nodiscard]] std::string held_out() const {
        return folder /
               ("data/" +
                run_assay({"data", "show", folder / "data"}).at("held_out").at("name").get<std::string>());
    }
};

const TrainedModel& trained() {
    static const TrainedModel model;
    return model;
}

}  // namespace

TEST_CASE("model train prints what scripts rely on, and the loss falls") {
    const json& report = trained().report;
    std::set<std::string> keys;
    for (const auto& [key, value] : report.items()) keys.insert(key);
    CHECK(keys == std::set<std::string>{"schema", "model_root", "parameters", "slots", "inner_steps", "steps",
                                        "tokens", "tokens_per_second", "peak_rss_mib", "loss"});
    CHECK(report.at("schema") == "assay.model.train/v1");
    CHECK(report.at("steps") == 24);
    CHECK(report.at("tokens") == 24 * 2 * 64);
    CHECK(report.at("tokens_per_second").get<double>() > 0);
    CHECK(report.at("peak_rss_mib").get<double>() > 1);
    const json& loss = report.at("loss");
    REQUIRE(loss.size() == 3);
    CHECK(loss.at(0).at("step") == 0);
    CHECK(loss.at(0).at("train").is_null());
    CHECK(loss.at(2).at("step") == 12);
    CHECK(loss.at(2).at("held_out").get<double>() < loss.at(0).at("held_out").get<double>());
}

TEST_CASE("a trained model has the same root with every kernel target that this machine has") {
    const auto doctor =
        json::parse(test::run_program(test::built_program_path("assay"), {"doctor", "-o", "json"}).out);
    for (const json& target : doctor.at("targets")) {
        for (const char* threads : {"1", "2"}) {
            const auto name = target.get<std::string>();
            INFO(name << ", " << threads << " threads");
            const ProgramRun run =
                test::run_program(test::built_program_path("assay"),
                                  {"model", "train", trained().folder / "job.toml", "--out",
                                   trained().folder / ("model-" + name), "-o", "json"},
                                  {{"ASSAY_TARGETS", name}, {"ASSAY_THREADS", threads}});
            INFO(run.err);
            REQUIRE(run.code == 0);
            CHECK(json::parse(run.out).at("model_root") == trained().report.at("model_root"));
        }
    }
}

TEST_CASE("the law itself trains the model to the same root, and a device that is not there is refused") {
    const auto train = [](const std::string& device) {
        return test::run_program(
            test::built_program_path("assay"),
            {"model", "train", trained().folder / "job.toml", "--out",
             trained().folder / ("model-by-" + device), "--rounds", "1", "--device", device, "-o", "json"});
    };
    const ProgramRun cpu = train("cpu");
    const ProgramRun law = train("reference");
    INFO(cpu.err << law.err);
    REQUIRE(cpu.code == 0);
    REQUIRE(law.code == 0);
    CHECK(json::parse(law.out).at("model_root") == json::parse(cpu.out).at("model_root"));
    const ProgramRun refused = train("cuda:9999");
    INFO(refused.err);
    CHECK(refused.code == 8);
    CHECK(refused.err.find("cuda:9999 is not there") != std::string::npos);
    CHECK_FALSE(fs::exists(trained().folder / "model-by-cuda:9999"));
}

TEST_CASE("a trained model has the same root in little memory, and too little is refused") {
    const auto train = [](const std::string& memory) {
        return test::run_program(test::built_program_path("assay"),
                                 {"model", "train", trained().folder / "job.toml", "--out",
                                  trained().folder / "model-small", "--memory", memory, "-o", "json"});
    };
    const ProgramRun refused = train("64KiB");
    INFO(refused.err);
    CHECK(refused.code == 8);
    const std::string marker = "one sequence of this model: ";
    const std::size_t at = refused.err.find(marker);
    REQUIRE(at != std::string::npos);
    const std::uint64_t needed = std::stoull(refused.err.substr(at + marker.size()));
    CHECK(json::parse(refused.err.substr(refused.err.find('{'))).at("error").at("fix") ==
          "give at least " + std::to_string((needed + (1U << 20U) - 1) >> 20U) +
              " MiB (--memory or ASSAY_MEMORY)");
    CHECK(train(std::to_string(needed - 1) + "B").code == 8);
    const ProgramRun run = train(std::to_string(needed + (64U << 10U)) + "B");
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(json::parse(run.out).at("model_root") == trained().report.at("model_root"));
    CHECK(train("much").code == 2);
}

TEST_CASE("model train says beforehand what a step takes, and the worker takes little more") {
    // What a worker takes for a job of no size is its program and LibTorch's.
    const double program = trained().report.at("peak_rss_mib").get<double>();
    std::string text = kJob;
    const auto put = [&text](const std::string& from, const std::string& to) {
        REQUIRE(text.find(from) != std::string::npos);
        text.replace(text.find(from), from.size(), to);
    };
    put("slots = 2\nrounds = 2", "slots = 1\nrounds = 1");
    put("layers = 2\nwidth = 64\nheads = 2\ncontext = 64",
        "layers = 4\nwidth = 128\nheads = 4\ncontext = 512");
    put("inner_steps = 6\nbatch = 2", "inner_steps = 1\nbatch = 4");
    put("segment_steps = 3", "segment_steps = 1");
    std::ofstream(trained().folder / "large.toml") << text;
    const ProgramRun run = test::run_program(test::built_program_path("assay"),
                                             {"model", "train", trained().folder / "large.toml", "--out",
                                              trained().folder / "model-large", "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const std::string marker = "a step takes ";
    const std::size_t at = run.err.find(marker);
    REQUIRE(at != std::string::npos);
    CHECK(run.err.find("MiB", at) != std::string::npos);
    const double step = std::stod(run.err.substr(at + marker.size()));
    const double peak = json::parse(run.out).at("peak_rss_mib").get<double>();
    INFO("a step " << step << " MiB, the worker " << peak << " MiB, of which the program " << program);
    CHECK(step > 60);
    CHECK(step < peak);
    CHECK(step > 0.7 * (peak - program));
}

TEST_CASE("a worker keeps to its budget with a model that is large beside its steps") {
    const double program = trained().report.at("peak_rss_mib").get<double>();
    std::string text = kJob;
    const auto put = [&text](const std::string& from, const std::string& to) {
        REQUIRE(text.find(from) != std::string::npos);
        text.replace(text.find(from), from.size(), to);
    };
    put("slots = 2\nrounds = 2", "slots = 1\nrounds = 1");
    put("width = 64\nheads = 2\ncontext = 64", "width = 768\nheads = 2\ncontext = 32");
    put("inner_steps = 6\nbatch = 2", "inner_steps = 1\nbatch = 1");
    put("segment_steps = 3", "segment_steps = 1");
    const fs::path job = trained().folder / "wide.toml";
    std::ofstream(job) << text;
    const auto least = run_assay({"plan", job}).at("memory").at(0).at("least").get<std::uint64_t>();
    const ProgramRun run = test::run_program(test::built_program_path("assay"),
                                             {"model", "train", job, "--out", trained().folder / "model-wide",
                                              "--memory", std::to_string(least) + "B", "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const double peak = json::parse(run.out).at("peak_rss_mib").get<double>();
    const double budget = static_cast<double>(least) / (1U << 20U);
    INFO("the worker " << peak << " MiB, of which the program " << program << ", the budget " << budget);
    CHECK(budget > 200);
    CHECK(peak - program < 1.02 * budget);
}

TEST_CASE("transformers computes the loss that model eval computes") {
    const std::string model = trained().folder / "model";
    const std::string data = trained().held_out();
    const json ours = run_assay({"model", "eval", "--model", model, "--data", data});
    const ProgramRun theirs = run_python("transformers_check.py", {model, data});
    INFO(theirs.err);
    REQUIRE(theirs.code == 0);
    const json report = json::parse(theirs.out);
    INFO("ours " << ours.dump() << ", transformers " << report.dump());
    CHECK(report.at("mismatches").empty());
    CHECK(ours.at("tokens") == report.at("tokens"));
    CHECK(std::abs(ours.at("loss").get<double>() - report.at("loss").get<double>()) < kLossTolerance);
}

TEST_CASE("a model folder with one changed byte is refused") {
    const fs::path copy = trained().folder / "changed";
    fs::copy(trained().folder / "model", copy, fs::copy_options::recursive);
    const fs::path weights = copy / "model.safetensors";
    test::flip_byte(weights, fs::file_size(weights) - 5, 1);
    const ProgramRun run =
        test::run_program(test::built_program_path("assay"),
                          {"model", "eval", "--model", copy.string(), "--data", trained().held_out()});
    INFO(run.err);
    CHECK(run.code == 7);
    CHECK(run.err.find("fix: ") != std::string::npos);
}

}  // namespace assay::tests
