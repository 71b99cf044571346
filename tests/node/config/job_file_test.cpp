// SPDX-License-Identifier: Apache-2.0
#include "node/config/job_file.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "contracts/program/tensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trainer/data/pack.hpp"
#include "trainer/model/model_folder.hpp"

using namespace assay;
using namespace assay::node;

namespace {

const std::string kGood = R"([job]
name = "demo"
profile = "f32"
engine = "local"
strategy = "diloco"
slots = 5
rounds = 4
seed = 7
[model]
family = "gpt2"
layers = 2
width = 64
heads = 4
context = 64
vocabulary = 512
[data]
manifest = "data/manifest.json"
[train]
inner_steps = 10
batch = 4
warmup_steps = 5
learning_rate = 0.001
beta1 = 0.9
weight_decay = 0.1
outer_momentum = 0.9
sum_exponent = -40
[market]
max_price = "0.001"
budget = "100"
deadline = 500
[security]
q = 0.25
segment_steps = 5
gain_bound = "0"
)";

struct Bad {
    const char* from;
    const char* to;
    const char* reason;
};

// Each row changes the good file in one place; `reason` must be in the error.
const Bad kBad[] = {
    {"name = \"demo\"", "name = 5", "job.name has the wrong type"},
    {"name = \"demo\"", "name = \"\"", "job.name"},
    {"name = \"demo\"\n", "", "job.name is missing"},
    {"name = \"demo\"", "nmae = \"demo\"", "unknown key in [job] \"nmae\""},
    {"profile = \"f32\"", "profile = \"f64\"", "job.profile"},
    {"engine = \"local\"", "engine = \"sync\"", "job.engine"},
    {"strategy = \"diloco\"", "strategy = \"adam\"", "job.strategy"},
    {"strategy = \"diloco\"", "strategy = 1", "job.strategy has the wrong type"},
    {"slots = 5", "slots = 0", "job.slots = 0 is out of range"},
    {"slots = 5", "slots = 1025", "job.slots = 1025 is out of range"},
    {"slots = 5", "slots = 5.0", "job.slots has the wrong type"},
    {"slots = 5", "slots = \"5\"", "job.slots has the wrong type"},
    {"slots = 5", "slots = true", "job.slots has the wrong type"},
    {"rounds = 4", "rounds = -1", "job.rounds = -1 is out of range"},
    {"rounds = 4\n", "", "job.rounds is missing"},
    {"seed = 7", "seed = -7", "job.seed = -7 is out of range"},
    {"seed = 7", "seed = 7\nseed = 8", "not TOML"},
    {"seed = 7", "seed = ", "not TOML"},
    {"[job]", "[jobb]", "unknown section \"jobb\""},
    {"[job]\n", "extra = 1\n[job]\n", "unknown key \"extra\""},
    {"[job]\n", "market = 1\n[job]\n", "not TOML"},
    {"family = \"gpt2\"", "family = \"mamba\"", "model.family"},
    {"family = \"gpt2\"", "family = \"llama\"\nkv_heads = 3",
     "model.kv_heads = 3 (model.heads = 4) breaks a rule"},
    {"family = \"gpt2\"", "family = \"llama\"\nrope_theta = 0.5", "model.rope_theta = 0.5 is out of range"},
    {"family = \"gpt2\"", "kv_heads = 2", "model.kv_heads = 2 breaks a rule"},
    {"family = \"gpt2\"", "hidden = 64", "model.hidden = 64 breaks a rule"},
    {"family = \"gpt2\"", "norm_epsilon = 1e-6", "model.norm_epsilon = 1e-06 breaks a rule"},
    {"family = \"gpt2\"", "head = \"untied\"", "model.head (untied) breaks a rule"},
    {"layers = 2", "layers = 0", "model.layers = 0 is out of range"},
    {"width = 64", "width = 70000", "model.width = 70000 is out of range"},
    {"heads = 4", "heads = 5", "model.heads = 5 (model.width = 64) breaks a rule"},
    {"heads = 4", "headz = 4", "unknown key in [model] \"headz\""},
    {"context = 64", "context = 1", "model.context = 1 is out of range"},
    {"vocabulary = 512", "vocabulary = 1", "model.vocabulary = 1 is out of range"},
    {"manifest = \"data/manifest.json\"", "manifest = \"\"", "data.manifest is empty"},
    {"manifest = \"data/manifest.json\"\n", "", "data.manifest is missing"},
    {"manifest = \"data/manifest.json\"", "manifest = [1]", "data.manifest has the wrong type"},
    {"inner_steps = 10", "inner_steps = 0", "train.inner_steps = 0 is out of range"},
    {"inner_steps = 10", "inner_step = 10", "unknown key in [train] \"inner_step\""},
    {"batch = 4", "batch = 65537", "train.batch = 65537 is out of range"},
    {"warmup_steps = 5", "warmup_steps = -5", "train.warmup_steps = -5 is out of range"},
    {"learning_rate = 0.001", "learning_rate = 0", "train.learning_rate"},
    {"learning_rate = 0.001", "learning_rate = nan", "train.learning_rate"},
    {"learning_rate = 0.001", "learning_rate = inf", "train.learning_rate"},
    {"learning_rate = 0.001", "learning_rate = \"fast\"", "train.learning_rate has the wrong type"},
    {"beta1 = 0.9", "beta1 = 1.0", "train.beta1"},
    {"beta1 = 0.9", "beta1 = -0.0", "train.beta1"},
    {"beta1 = 0.9", "beta1 = 1e300", "train.beta1"},
    {"weight_decay = 0.1", "weight_decay = -0.1", "train.weight_decay"},
    {"outer_momentum = 0.9", "outer_momentum = 2", "train.outer_momentum"},
    {"sum_exponent = -40", "sum_exponent = 1", "train.sum_exponent = 1 is out of range"},
    {"max_price = \"0.001\"", "max_price = 0.001", "market.max_price has the wrong type"},
    {"max_price = \"0.001\"", "max_price = \"0\"", "market.max_price = \"0\" is out of range"},
    {"max_price = \"0.001\"", "max_price = \"-1\"", "market.max_price = \"-1\" is not possible"},
    {"budget = \"100\"", "budget = \"99999999999999999999\"", "market.budget"},
    {"budget = \"100\"", "budget = \"0.0000001\"", "market.budget"},
    {"deadline = 500", "deadline = 0", "market.deadline = 0 is out of range"},
    {"deadline = 500", "deadlin = 500", "unknown key in [market] \"deadlin\""},
    {"deadline = 500", "deadline = 500\nmachines_least = 257", "market.machines_least = 257 is out of range"},
    {"deadline = 500", "deadline = 500\nmachines_least = 2\nmachines_most = 1",
     "market.machines_most = 1 (market.machines_least = 2, job.slots = 5) breaks a rule"},
    {"deadline = 500", "deadline = 500\nmachines_least = 6",
     "market.machines_most = 6 (market.machines_least = 6"},
    // No machine is of a larger class: such a job would wait for ever.
    {"deadline = 500", "deadline = 500\nmachines_least = 1\nleast_speed = 63",
     "market.least_speed = 63 is out of range"},
    {"deadline = 500", "deadline = 500\nmachines_least = 1\nleast_memory = 21",
     "market.least_memory = 21 is out of range"},
    {"deadline = 500", "deadline = 500\nmachines_least = 1\nleast_network = 25",
     "market.least_network = 25 is out of range"},
    {"deadline = 500", "deadline = 500\nleast_speed = 3", "market.machines_least = 0 (terms for no machine)"},
    {"q = 0.25", "q = 0.0", "security.q"},
    {"q = 0.25", "q = 1.5", "security.q = 1.5 is out of range"},
    {"segment_steps = 5", "segment_steps = 11", "segment_steps = 11 (train.inner_steps = 10) breaks a rule"},
    {"gain_bound = \"0\"", "gain_bound = \"lots\"", "security.gain_bound"},
};

std::string changed(const Bad& row) {
    std::string text = kGood;
    const std::size_t at = text.find(row.from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, std::string(row.from).size(), row.to);
}

/// The good file with another [model], which starts from a folder.
std::string from_folder(const std::string& lines) {
    const std::size_t begin = kGood.find("family =");
    const std::size_t end = kGood.find("[data]");
    return kGood.substr(0, begin) + "from = \"models/small\"\n" + lines + kGood.substr(end);
}

/// A small Llama's folder, and data packed with its tokenizer.
struct LlamaFolder {
    test::TemporaryFolder folder;
    program::ModelConfig model = {.family = program::Family::kLlama,
                                  .layers = 1,
                                  .width = 8,
                                  .heads = 2,
                                  .context = 32,
                                  .vocabulary = 280,
                                  .kv_heads = 1,
                                  .hidden = 12,
                                  .rope_theta = 10'000.0F};
    LlamaFolder() {
        pack("data", "abc", model.vocabulary);
        std::filesystem::create_directories(folder / "models");
        const std::vector<float> weights(program::parameter_count(model), 0.25F);
        std::ifstream tokenizer(folder / "data/tokenizer.json");
        std::stringstream text;
        text << tokenizer.rdbuf();
        REQUIRE(trainer::write_model_folder(folder / "models/small",
                                            {.config = model, .tokenizer_json = text.str(), .provenance = {}},
                                            weights)
                    .ok());
    }
    /// Words of few letters, in an order that repeats late.
    void pack(const std::string& name, const std::string& letters, std::uint32_t vocabulary) const {
        std::ofstream text(folder / (name + ".txt"));
        std::uint32_t state = 1;
        for (int i = 0; i < 30'000; ++i) {
            state = state * 1664525U + 1013904223U;
            const std::uint32_t draw = state >> 16;
            text << (draw % 5 == 0 ? ' ' : draw % 61 == 0 ? '\n' : letters[draw % letters.size()]);
        }
        text.close();
        trainer::PackOptions options;
        options.texts = {folder / (name + ".txt")};
        options.out = folder / name;
        options.vocabulary = vocabulary;
        const auto packed = trainer::pack(options);
        if (!packed.ok()) FAIL(packed.error().what);
    }
    /// Another value in the model folder's config.json.
    void set_config(const std::string& key, const std::string& value) const {
        const auto path = folder / "models/small/config.json";
        std::stringstream file;
        file << std::ifstream(path).rdbuf();
        std::string text = file.str();
        const std::size_t begin = text.find("\"" + key + "\": ") + key.size() + 4;
        text.replace(begin, text.find(",\n", begin) - begin, value);
        std::ofstream(path) << text;
    }
    [[nodiscard]] base::Outcome<JobFile> read(const std::string& lines,
                                              const std::string& data = "data") const {
        std::string text = from_folder(lines);
        const std::string manifest = "data/manifest.json";
        text.replace(text.find(manifest), manifest.size(), data + "/manifest.json");
        std::ofstream(folder / "job.toml") << text;
        return read_job_file(folder / "job.toml");
    }
};

}  // namespace

TEST_CASE("a good job file gives its job") {
    const auto job = parse_job_text(kGood, "job.toml");
    REQUIRE(job.ok());
    CHECK(job->spec.name == "demo");
    CHECK(job->spec.slots == 5);
    CHECK(job->spec.model.width == 64);
    CHECK(job->spec.train.learning_rate == program::Float32(0.001F));
    CHECK(job->spec.train.beta2 == program::Float32(0.95F));
    CHECK(job->spec.market.budget.units() == 100'000'000);
    CHECK(job->spec.security.audit_threshold == std::uint64_t{1} << 62);
    CHECK(job->manifest == "data/manifest.json");
}

TEST_CASE("a llama job fills in what its family leaves open") {
    const auto job = parse_job_text(changed({"family = \"gpt2\"", "family = \"llama\"", ""}), "job.toml");
    REQUIRE(job.ok());
    CHECK(job->spec.model.kv_heads == job->spec.model.heads);
    CHECK(job->spec.model.hidden == 192);  // 8/3 of 64, up to a multiple of 64
    CHECK(job->spec.model.rope_theta == program::Float32(10'000.0F));
    const auto back = parse_job_text(job_file_text(*job), "job.toml");
    REQUIRE(back.ok());
    CHECK(back->spec == job->spec);
}

TEST_CASE("a job says which machines it leases; without a word it holds an auction of its own") {
    const auto own = parse_job_text(kGood, "job.toml");
    REQUIRE(own.ok());
    CHECK_FALSE(own->spec.market.terms.engaged());
    const auto leases = parse_job_text(
        changed({"deadline = 500", "deadline = 500\nmachines_least = 2\nleast_memory = 5", ""}), "job.toml");
    REQUIRE(leases.ok());
    CHECK(leases->spec.market.terms == program::MarketTerms{.gang = 2, .most = 2, .least_memory = 5});
    const auto more = parse_job_text(
        changed({"deadline = 500", "deadline = 500\nmachines_least = 2\nmachines_most = 4", ""}), "job.toml");
    REQUIRE(more.ok());
    CHECK(more->spec.market.terms == program::MarketTerms{.gang = 2, .most = 4});
    const auto back = parse_job_text(job_file_text(*more), "job.toml");
    REQUIRE(back.ok());
    CHECK(back->spec == more->spec);
}

TEST_CASE("the profile is chosen by name") {
    const auto job = parse_job_text(changed({"profile = \"f32\"", "profile = \"i16\"", ""}), "job.toml");
    REQUIRE(job.ok());
    CHECK(job->spec.profile == program::Profile::kI16);
}

TEST_CASE("a written job file reads back as the same job") {
    const auto job = parse_job_text(kGood, "job.toml");
    REQUIRE(job.ok());
    const std::string text = job_file_text(*job);
    const auto back = parse_job_text(text, "job.toml");
    REQUIRE(back.ok());
    CHECK(back->spec == job->spec);
    CHECK(back->manifest == job->manifest);
    CHECK(job_file_text(*back) == text);
}

TEST_CASE("a job from a folder leaves its shape to the folder") {
    const auto job = parse_job_text(from_folder("context = 32\n"), "job.toml");
    REQUIRE(job.ok());
    CHECK(job->from == "models/small");
    CHECK(job->spec.model.context == 32);
    CHECK(job->spec.model.layers == 0);  // not read yet
    const std::string text = job_file_text(*job);
    const auto back = parse_job_text(text, "job.toml");
    REQUIRE(back.ok());
    CHECK(back->from == job->from);
    CHECK(back->spec == job->spec);
    CHECK(job_file_text(*back) == text);
    CHECK(parse_job_text(from_folder(""), "job.toml").ok());
    // An empty name is no name: the shape must be there.
    CHECK(parse_job_text(changed({"family = \"gpt2\"", "from = \"\"", ""}), "job.toml").ok());
}

TEST_CASE("a shape beside a folder, and rules that need no shape, are refused as in any job") {
    for (const auto& [line, reason] : std::vector<std::pair<std::string, std::string>>{
             {"layers = 2\n", "model.layers stands beside model.from"},
             {"family = \"gpt2\"\n", "model.family stands beside model.from"},
             {"norm_epsilon = 1e-5\n", "model.norm_epsilon stands beside model.from"},
             {"context = 1\n", "model.context = 1 is out of range"},
             {"context = \"all\"\n", "model.context has the wrong type"},
             {"layerz = 2\n", "unknown key in [model] \"layerz\""},
             {"[security]\nsegment_steps = 11\n", "not TOML"}}) {
        CAPTURE(line);
        const auto job = parse_job_text(from_folder(line), "job.toml");
        REQUIRE_FALSE(job.ok());
        CAPTURE(job.error().what);
        CHECK(job.error().what.starts_with("job.toml:"));
        CHECK(job.error().what.find(reason) != std::string::npos);
        CHECK_FALSE(job.error().fix.empty());
    }
    std::string text = from_folder("");
    const std::string steps = "segment_steps = 5";
    text.replace(text.find(steps), steps.size(), "segment_steps = 11");
    const auto job = parse_job_text(text, "job.toml");
    REQUIRE_FALSE(job.ok());
    CHECK(job.error().what.find("security.segment_steps = 11 (train.inner_steps = 10) breaks") !=
          std::string::npos);
    CHECK_FALSE(parse_job_text(changed({"family = \"gpt2\"", "from = 7", ""}), "job.toml").ok());
}

TEST_CASE("a job from a folder has that model's shape, and data that the model can read") {
    LlamaFolder f;
    const auto job = f.read("");
    if (!job.ok()) FAIL(job.error().what);
    CHECK(job->spec.model == f.model);
    CHECK(job->from == f.folder / "models/small");
    CHECK(job->spec.initial_blob.is_zero());  // weights are not read for a plan
    const auto fewer = f.read("context = 16\n");
    REQUIRE(fewer.ok());
    CHECK(fewer->spec.model.context == 16);

    const auto refused = [&](const base::Outcome<JobFile>& read, base::ErrorKind kind,
                             const std::string& reason) {
        REQUIRE_FALSE(read.ok());
        CAPTURE(read.error().what);
        CHECK(read.error().kind == kind);
        CHECK(read.error().what.find(reason) != std::string::npos);
        CHECK_FALSE(read.error().fix.empty());
    };
    refused(f.read("context = 64\n"), base::ErrorKind::kUsage, "at least the context 64");
    f.set_config("max_position_embeddings", "131072");
    refused(f.read(""), base::ErrorKind::kUsage, "give a smaller context with model.context in the job file");
    CHECK(f.read("context = 32\n").ok());
    f.set_config("max_position_embeddings", "32");
    f.set_config("eos_token_id", "[2, 3]");
    const auto ended = f.read("");
    REQUIRE(ended.ok());
    CHECK(ended->ids.end == std::vector<std::uint32_t>{2, 3});
    f.pack("other", "aab", 300);
    refused(f.read("", "other"), base::ErrorKind::kUsage, "has a vocabulary of 280");
    f.pack("strange", "xyz", 280);
    refused(f.read("", "strange"), base::ErrorKind::kUsage, "packed with another tokenizer");
    std::filesystem::remove(f.folder / "models/small/tokenizer.json");
    CHECK(f.read("", "strange").ok());  // numbers are all that is known of this model's tokens
    std::filesystem::remove(f.folder / "models/small/config.json");
    refused(f.read(""), base::ErrorKind::kNotFound, "config.json");
    std::filesystem::remove_all(f.folder / "models/small");
    refused(f.read(""), base::ErrorKind::kNotFound, "there is no model folder");
}

TEST_CASE("every bad job file is refused by name, with place and fix") {
    for (const Bad& row : kBad) {
        CAPTURE(row.to);
        const auto job = parse_job_text(changed(row), "job.toml");
        REQUIRE_FALSE(job.ok());
        CAPTURE(job.error().what);
        CHECK(job.error().kind == base::ErrorKind::kUsage);
        CHECK(job.error().what.starts_with("job.toml:"));
        CHECK(job.error().what.find(row.reason) != std::string::npos);
        CHECK_FALSE(job.error().fix.empty());
    }
}

TEST_CASE("the nearest key is offered and the line is named") {
    const auto job = parse_job_text(changed({"rounds = 4", "runds = 4", ""}), "job.toml");
    REQUIRE_FALSE(job.ok());
    CHECK(job.error().what == "job.toml:7: unknown key in [job] \"runds\"");
    CHECK(job.error().fix == "did you mean \"rounds\"?");
}

TEST_CASE("the reference page is current") {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    const std::string path = std::string(source) + "/docs/reference/job-file.md";
    if (std::getenv("ASSAY_UPDATE_DOCS") != nullptr) std::ofstream(path) << job_file_reference();
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    CHECK(text.str() == job_file_reference());
}
