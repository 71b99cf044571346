// SPDX-License-Identifier: Apache-2.0
#include "verifier/worker/self_test.hpp"

#include <vector>

#include "contracts/program/trace.hpp"

namespace assay::verifier {

namespace {

constexpr std::uint32_t kTokens = 257;

program::JobSpec tiny_job() {
    program::JobSpec spec;
    spec.name = "self-test";
    spec.slots = 1;
    spec.rounds = 1;
    spec.seed = 20261121;
    spec.model = {program::Family::kGpt2, 2, 24, 3, 19, 53};  // no size is a multiple of a vector
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

}  // namespace

base::Hash256 self_test_root(const trainer::RunnerOptions& options) {
    const program::JobSpec spec = tiny_job();
    std::vector<std::uint16_t> tokens;
    std::uint32_t state = 1;
    for (std::uint32_t i = 0; i < kTokens; ++i) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        tokens.push_back(static_cast<std::uint16_t>((state >> 16) % spec.model.vocabulary));
    }
    trainer::RunnerOptions own = options;
    own.arena = nullptr;
    const auto runner = trainer::JobRunner::create(spec, {tokens}, {tokens}, own);
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

}  // namespace assay::verifier
