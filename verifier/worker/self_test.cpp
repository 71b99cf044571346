// SPDX-License-Identifier: Apache-2.0
#include "verifier/worker/self_test.hpp"

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

// One slot's round, its merge and the held-out loss after it; zero when any of them fails.
base::Hash256 root_of(const program::JobSpec& spec, trainer::TokenView tokens,
                      const trainer::RunnerOptions& options) {
    const auto runner = trainer::JobRunner::create(spec, tokens, tokens, options);
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
        .add(program::trace_root(round->trace))
        .add(job.base_root(*merged))
        .add_u64(loss->loss.bits)
        .finish();
}

}  // namespace

base::Hash256 self_test_root(const trainer::RunnerOptions& options) {
    std::vector<std::uint32_t> tokens;
    std::uint32_t state = 1;
    for (std::uint32_t i = 0; i < kTokens; ++i) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        tokens.push_back(static_cast<std::uint32_t>((state >> 16) % kVocabulary));
    }
    trainer::RunnerOptions own = options;
    own.arena = nullptr;
    own.memory = 0;  // the budget is a job's; a self-test fits everywhere
    base::Hasher hasher("assay/self-test/all");
    for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
        for (const auto& model : {gpt2(), llama()}) {
            const base::Hash256 root = root_of(tiny_job(model, profile), {tokens}, own);
            if (root.is_zero()) return {};
            hasher.add(root);
        }
    }
    return hasher.finish();
}

}  // namespace assay::verifier
