// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/parity_job.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string_view>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/batch_map.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/host/targets.hpp"

namespace assay::parity {

using base::ErrorKind;

namespace {

using Words = std::map<std::string, std::string, std::less<>>;

// Every word and what it is when it is not given. The sizes are the 5.3 M model of docs/parity.md.
const Words& defaults() {
    static const Words kDefaults = {
        {"data", ""},      {"out", ""},        {"family", "gpt2"}, {"profile", "f32"},
        {"layers", "4"},   {"width", "256"},   {"heads", "4"},     {"kv_heads", "2"},
        {"hidden", "768"}, {"context", "256"}, {"batch", "4"},     {"steps", "1000"},
        {"every", "100"},  {"held_out", "0"},  {"seed", "1"},      {"vocabulary", "8192"},
        {"warmup", "100"}, {"rate", "0.001"},  {"threads", "1"},   {"micro_batch", "0"},
        {"state", ""},     {"save", "0"},      {"until", "0"},     {"device", "cpu"},
    };
    return kDefaults;
}

// What a run reads and writes, how often it saves and what computes it.
constexpr std::string_view kOutsideJob[] = {"data",  "out",    "state",   "save",
                                            "until", "device", "threads", "micro_batch"};

base::Failed<base::Error> bad_word(const std::string& what) {
    return base::fail(ErrorKind::kUsage, "parity: " + what, "words are " + describe_words());
}

template <class Number>
base::Outcome<Number> number(const Words& words, const char* key) {
    const std::string& text = words.at(key);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return bad_word(std::string(key) + "=" + text + " is not a number that fits");
    }
    return value;
}

base::Outcome<Words> read_words(std::span<char* const> arguments) {
    Words words = defaults();
    for (const std::string_view argument : arguments) {
        const std::size_t equals = argument.find('=');
        const auto known = words.find(argument.substr(0, equals));
        if (equals == std::string_view::npos || known == words.end()) {
            return bad_word("no word '" + std::string(argument) + "'");
        }
        known->second = argument.substr(equals + 1);
    }
    return words;
}

base::Outcome<program::ModelConfig> model_of(const Words& words) {
    program::ModelConfig model;
    ASSAY_ASSIGN(model.layers, number<std::uint32_t>(words, "layers"));
    ASSAY_ASSIGN(model.width, number<std::uint32_t>(words, "width"));
    ASSAY_ASSIGN(model.heads, number<std::uint32_t>(words, "heads"));
    ASSAY_ASSIGN(model.context, number<std::uint32_t>(words, "context"));
    ASSAY_ASSIGN(model.vocabulary, number<std::uint32_t>(words, "vocabulary"));
    if (words.at("family") == "gpt2") return model;
    if (words.at("family") != "llama") return bad_word("family is gpt2 or llama");
    model.family = program::Family::kLlama;
    model.rope_theta = 10000.0F;
    ASSAY_ASSIGN(model.kv_heads, number<std::uint32_t>(words, "kv_heads"));
    ASSAY_ASSIGN(model.hidden, number<std::uint32_t>(words, "hidden"));
    return model;
}

// Terms of purchase are those of nobody: they are part of a spec and leave the numbers alone.
base::Outcome<program::JobSpec> spec_of(const Words& words) {
    program::JobSpec spec;
    spec.name = "parity";
    spec.slots = 1;
    spec.rounds = 1;
    spec.market.max_price = base::units(1);
    spec.market.budget = base::units(1);
    spec.market.deadline_blocks = 1;
    if (words.at("profile") == "i16") {
        spec.profile = program::Profile::kI16;
    } else if (words.at("profile") != "f32") {
        return bad_word("profile is f32 or i16");
    }
    ASSAY_ASSIGN(spec.model, model_of(words));
    ASSAY_ASSIGN(spec.seed, number<std::uint64_t>(words, "seed"));
    ASSAY_ASSIGN(spec.train.inner_steps, number<std::uint32_t>(words, "steps"));
    ASSAY_ASSIGN(spec.train.batch, number<std::uint32_t>(words, "batch"));
    ASSAY_ASSIGN(spec.train.warmup_steps, number<std::uint32_t>(words, "warmup"));
    ASSAY_ASSIGN(spec.train.learning_rate, number<float>(words, "rate"));
    return spec;
}

base::Hash256 text_id(const ParityJob& job) {
    const std::uint32_t vocabulary = job.spec.model.vocabulary;
    base::Hasher hasher("assay/parity-text");
    for (const auto* tokens : {&job.train_tokens, &job.held_out_tokens}) {
        hasher.add(base::blob_id(trainer::token_file_bytes(*tokens, vocabulary)));
    }
    return hasher.finish();
}

base::Hash256 job_id(const Words& words, const base::Hash256& text) {
    base::Hasher hasher("assay/parity-job");
    for (const auto& [key, value] : words) {
        if (std::find(std::begin(kOutsideJob), std::end(kOutsideJob), key) != std::end(kOutsideJob)) continue;
        hasher.add(base::as_bytes(key + "=" + value + "\n"));
    }
    return hasher.add(text).finish();
}

// Where a run saves and stops.
base::Outcome<void> read_stops(ParityJob& job, const Words& words) {
    job.state = words.at("state");
    ASSAY_ASSIGN(job.save, number<std::uint32_t>(words, "save"));
    ASSAY_ASSIGN(job.until, number<std::uint32_t>(words, "until"));
    if (job.state.empty() && (job.save != 0 || job.until != 0)) {
        return bad_word("save= and until= need state=FILE, where the run goes on");
    }
    if (job.save == 0) job.save = job.every;
    if (job.until == 0 || job.until > job.steps()) job.until = job.steps();
    return {};
}

}  // namespace

std::string describe_words() {
    std::string text;
    for (const auto& [key, value] : defaults()) text += (text.empty() ? "" : " ") + key + "=" + value;
    return text;
}

std::uint64_t ParityJob::held_out() const {
    const std::uint64_t all = program::sequence_count(held_out_tokens.size(), spec.model.context);
    return held_out_sequences == 0 ? all : std::min<std::uint64_t>(all, held_out_sequences);
}

base::Outcome<ParityJob> parse_job(std::span<char* const> arguments) {
    ParityJob job;
    ASSAY_ASSIGN(const Words words, read_words(arguments));
    job.data = words.at("data");
    job.out = words.at("out");
    if (job.data.empty()) return bad_word("data=FOLDER is needed");
    ASSAY_ASSIGN(job.spec, spec_of(words));
    ASSAY_ASSIGN(job.every, number<std::uint32_t>(words, "every"));
    if (job.every == 0) return bad_word("every is at least 1");
    job.spec.security.segment_steps = std::min(job.every, job.steps());
    ASSAY_TRY(read_stops(job, words));
    ASSAY_ASSIGN(job.held_out_sequences, number<std::uint32_t>(words, "held_out"));
    job.runner.device.name = words.at("device");
    ASSAY_ASSIGN(job.runner.device.threads, number<int>(words, "threads"));
    ASSAY_ASSIGN(job.runner.micro_batch, number<std::uint32_t>(words, "micro_batch"));
    ASSAY_ASSIGN(job.runner.device.cpu.target, trainer::choose_target(trainer::targets_from_environment()));
    const std::uint32_t vocabulary = job.spec.model.vocabulary;
    ASSAY_ASSIGN(job.train_tokens, trainer::read_token_file(job.data / "train.bin", vocabulary));
    ASSAY_ASSIGN(job.held_out_tokens, trainer::read_token_file(job.data / "held_out.bin", vocabulary));
    job.spec.data.train_tokens = job.train_tokens.size();
    job.spec.data.held_out_tokens = job.held_out_tokens.size();
    job.text = text_id(job);
    job.id = job_id(words, job.text);
    return job;
}

}  // namespace assay::parity
