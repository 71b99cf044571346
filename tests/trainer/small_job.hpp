// SPDX-License-Identifier: Apache-2.0
// A tiny job and tokens for it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "trainer/host/targets.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::trainer::test {

/// Sizes are odd on purpose: no dimension is a multiple of a vector or a register tile.
inline program::JobSpec small_job() {
    program::JobSpec spec;
    spec.name = "small";
    spec.slots = 2;
    spec.rounds = 2;
    spec.seed = 7;
    spec.model = {program::Family::kGpt2, 2, 28, 2, 21, 67};
    spec.train.inner_steps = 5;
    spec.train.batch = 3;
    spec.train.warmup_steps = 3;
    spec.train.learning_rate = 1e-2F;
    spec.data.train_tokens = 2000;
    spec.data.held_out_tokens = 500;
    spec.market.max_price = base::units(1);
    spec.market.budget = base::units(1000000);
    spec.market.deadline_blocks = 1000;
    spec.security.segment_steps = 2;
    return spec;
}

/// Small jobs of every family and profile.
inline std::vector<program::JobSpec> small_jobs() {
    program::JobSpec gpt2 = small_job();
    program::JobSpec llama = gpt2;
    llama.name = "llama";
    llama.model.family = program::Family::kLlama;
    llama.model.width = 24;
    llama.model.heads = 4;
    llama.model.kv_heads = 2;
    llama.model.hidden = 37;
    llama.model.rope_theta = 10000.0F;
    llama.model.head = program::Head::kUntied;
    program::JobSpec exact_gpt2 = gpt2;
    exact_gpt2.name = "small, i16";
    exact_gpt2.profile = program::Profile::kI16;
    program::JobSpec exact_llama = llama;
    exact_llama.name = "llama, i16";
    exact_llama.profile = program::Profile::kI16;
    exact_llama.model.head = program::Head::kTied;
    return {gpt2, llama, exact_gpt2, exact_llama};
}

inline std::vector<std::uint32_t> small_tokens(std::size_t count, std::uint32_t vocabulary, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint32_t> tokens(count);
    for (auto& token : tokens) {
        const auto a = random() % vocabulary;
        token = static_cast<std::uint32_t>(a * a % vocabulary);  // uneven, so there is something to learn
    }
    return tokens;
}

/// Every target of this machine, the scalar one included.
inline std::vector<Target> all_targets() {
    std::vector<Target> targets;
    for (const auto& word : machine_targets()) targets.push_back(choose_target(word).value());
    return targets;
}

inline RunnerOptions on_cpu(int threads, Target target, std::uint32_t micro_batch = 0) {
    RunnerOptions options;
    options.device.threads = threads;
    options.device.cpu.target = target;
    options.micro_batch = micro_batch;
    return options;
}

}  // namespace assay::trainer::test
