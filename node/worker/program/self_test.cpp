// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/self_test.hpp"

#include <utility>
#include <vector>

#include "contracts/program/trace.hpp"

namespace assay::verifier {

namespace {

// No size is a multiple of a vector.
constexpr std::uint32_t kTokens = 257;
constexpr std::uint32_t kContext = 19;
constexpr std::uint32_t kVocabulary = 53;

program::ModelConfig gpt2() {
    return {.family = program::Family::kGpt2,
            .layers = 2,
            .width = 24,
            .heads = 3,
            .context = kContext,
            .vocabulary = kVocabulary};
}

program::ModelConfig llama() {
    return {.family = program::Family::kLlama,
            .layers = 2,
            .width = 24,
            .heads = 4,
            .context = kContext,
            .vocabulary = kVocabulary,
            .kv_heads = 2,
            .hidden = 38,
            .rope_theta = 10000.0F,
            .head = program::Head::kUntied};
}

// So wide that sums of profile i16 go in several chunks: 32-bit ones hold no more than 512 or 1024 of k.
program::ModelConfig wide() {
    program::ModelConfig model = llama();
    model.layers = 1;
    model.width = 578;
    model.heads = 17;
    model.kv_heads = 1;
    model.hidden = 10;
    model.context = 4;
    model.vocabulary = 1091;
    model.head = program::Head::kTied;
    return model;
}

program::JobSpec tiny_job(const program::ModelConfig& model, program::Profile profile) {
    program::JobSpec spec;
    spec.name = "self-test";
    spec.slots = 1;
    spec.rounds = 1;
    spec.seed = 20261121;
    spec.model = model;
    spec.profile = profile;
    spec.train.inner_steps = 2;
    spec.train.batch = 3;
    spec.train.warmup_steps = 2;
    spec.train.learning_rate = 1e-2F;
    spec.data.train_tokens = kTokens;
    spec.data.held_out_tokens = kTokens;
    spec.market = {base::units(1), base::units(1), 1};
    spec.security.segment_steps = 1;
    return spec;
}

// As small as the width allows: one step on two sequences.
program::JobSpec wide_job() {
    program::JobSpec spec = tiny_job(wide(), program::Profile::kI16);
    spec.train.inner_steps = 1;
    spec.train.batch = 2;
    spec.data.train_tokens = 2 * spec.model.context + 1;
    return spec;
}

std::vector<std::uint32_t> tokens_of(const program::JobSpec& spec) {
    std::vector<std::uint32_t> tokens;
    std::uint32_t state = 1;
    for (std::uint64_t i = 0; i < spec.data.train_tokens; ++i) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        tokens.push_back(static_cast<std::uint32_t>((state >> 16) % spec.model.vocabulary));
    }
    return tokens;
}

// One slot's round, its merge and the held-out loss after it; zero when any of them fails.
base::Hash256 root_of(const program::JobSpec& spec, const trainer::RunnerOptions& options) {
    const std::vector<std::uint32_t> tokens = tokens_of(spec);
    const auto runner = trainer::JobRunner::create(spec, {tokens}, {tokens}, options);
    if (!runner.ok()) return {};
    trainer::JobRunner& job = **runner;
    const trainer::BaseState base = job.initial();
    const auto round = job.run_slot_round(base, 0, 0, std::nullopt, {}, {});
    if (!round.ok() || !round->update) return {};
    const trainer::AcceptedUpdate accepted{0, 1, &*round->update};
    const auto merged = job.merge(base, {&accepted, 1});
    if (!merged.ok()) return {};
    const auto loss = job.evaluate_held_out(merged->parameters, 0, {});
    if (!loss.ok()) return {};
    return base::Hasher("assay/self-test")
        .add(program::trace_root(round->trace, spec, base::Hash256()))
        .add(job.base_root(*merged))
        .add_u64(loss->loss.bits)
        .finish();
}

// The first segment alone, its fingerprints and state: a merge of many parameters would take longer.
base::Hash256 first_segment_root_of(const program::JobSpec& spec, const trainer::RunnerOptions& options) {
    const std::vector<std::uint32_t> tokens = tokens_of(spec);
    const auto runner = trainer::JobRunner::create(spec, {tokens}, {}, options);
    if (!runner.ok()) return {};
    auto start = (*runner)->start((*runner)->initial());
    if (!start.ok()) return {};
    const auto replay = (*runner)->replay_segment(std::move(*start), {0, 0, 0}, {});
    if (!replay.ok() || replay->outcome.divergence) return {};
    return replay->unit_root;
}

}  // namespace

base::Hash256 self_test_root(const trainer::RunnerOptions& options) {
    trainer::RunnerOptions own = options;
    own.device.cpu.arena = nullptr;
    own.memory = own.device.memory = 0;  // budgets are a job's; a self-test fits everywhere
    base::Hasher hasher("assay/self-test/all");
    const auto add = [&](const base::Hash256& root) {
        hasher.add(root);
        return !root.is_zero();
    };
    for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
        for (const auto& model : {gpt2(), llama()}) {
            if (!add(root_of(tiny_job(model, profile), own))) return {};
        }
    }
    if (!add(first_segment_root_of(wide_job(), own))) return {};
    return hasher.finish();
}

}  // namespace assay::verifier
