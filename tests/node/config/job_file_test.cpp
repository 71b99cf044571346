// SPDX-License-Identifier: Apache-2.0
#include "node/config/job_file.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/catch.hpp"

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
    {"family = \"gpt2\"", "family = \"llama\"\nkv_heads = 3", "model.kv_heads breaks a rule"},
    {"family = \"gpt2\"", "family = \"llama\"\nrope_theta = 0.5", "model.rope_theta breaks a rule"},
    {"family = \"gpt2\"", "kv_heads = 2", "model.kv_heads breaks a rule"},
    {"family = \"gpt2\"", "hidden = 64", "model.hidden breaks a rule"},
    {"family = \"gpt2\"", "norm_epsilon = 1e-6", "model.norm_epsilon breaks a rule"},
    {"family = \"gpt2\"", "head = \"untied\"", "model.head breaks a rule"},
    {"layers = 2", "layers = 0", "model.layers = 0 is out of range"},
    {"width = 64", "width = 70000", "model.width = 70000 is out of range"},
    {"heads = 4", "heads = 5", "model.heads breaks a rule"},
    {"heads = 4", "headz = 4", "unknown key in [model] \"headz\""},
    {"context = 64", "context = 1", "model.context = 1 is out of range"},
    {"vocabulary = 512", "vocabulary = 256", "model.vocabulary = 256 is out of range"},
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
    {"weight_decay = 0.1", "weight_decay = -0.1", "train.weight_decay"},
    {"outer_momentum = 0.9", "outer_momentum = 2", "train.outer_momentum"},
    {"sum_exponent = -40", "sum_exponent = 1", "train.sum_exponent = 1 is out of range"},
    {"max_price = \"0.001\"", "max_price = 0.001", "market.max_price has the wrong type"},
    {"max_price = \"0.001\"", "max_price = \"0\"", "market.max_price breaks a rule"},
    {"max_price = \"0.001\"", "max_price = \"-1\"", "market.max_price = \"-1\" is not possible"},
    {"budget = \"100\"", "budget = \"99999999999999999999\"", "market.budget"},
    {"budget = \"100\"", "budget = \"0.0000001\"", "market.budget"},
    {"deadline = 500", "deadline = 0", "market.deadline = 0 is out of range"},
    {"deadline = 500", "deadlin = 500", "unknown key in [market] \"deadlin\""},
    {"q = 0.25", "q = 0.0", "security.q"},
    {"q = 0.25", "q = 1.5", "security.q = 1.5 is out of range"},
    {"segment_steps = 5", "segment_steps = 11", "security.segment_steps breaks a rule"},
    {"gain_bound = \"0\"", "gain_bound = \"lots\"", "security.gain_bound"},
};

std::string changed(const Bad& row) {
    std::string text = kGood;
    const std::size_t at = text.find(row.from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, std::string(row.from).size(), row.to);
}

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
