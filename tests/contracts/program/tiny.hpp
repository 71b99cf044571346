// SPDX-License-Identifier: Apache-2.0
// A model and a job small enough to check by hand, shared by the tests of this folder.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "contracts/program/initial.hpp"
#include "contracts/program/reference_step.hpp"
#include "contracts/program/schedule.hpp"

namespace tiny {

inline assay::program::ModelConfig model() {
    return {.layers = 2, .width = 6, .heads = 2, .context = 5, .vocabulary = 11};
}

inline assay::program::ModelConfig llama() {
    return {.family = assay::program::Family::kLlama,
            .layers = 2,
            .width = 8,
            .heads = 4,
            .context = 5,
            .vocabulary = 11,
            .kv_heads = 2,
            .hidden = 6,
            .rope_theta = 100.0F};
}

inline assay::program::ModelConfig untied_llama() {
    assay::program::ModelConfig model = llama();
    model.head = assay::program::Head::kUntied;
    return model;
}

inline assay::program::JobSpec spec() {
    assay::program::JobSpec spec;
    spec.name = "tiny";
    spec.slots = 3;
    spec.rounds = 2;
    spec.seed = 42;
    spec.model = model();
    spec.train.inner_steps = 5;
    spec.train.batch = 2;
    spec.train.warmup_steps = 4;
    spec.train.learning_rate = 1e-2F;
    spec.data.train_tokens = 101;
    spec.data.held_out_tokens = 11;
    spec.market.max_price = assay::base::units(5);
    spec.market.budget = assay::base::units(1000);
    spec.market.deadline_blocks = 100;
    spec.security.segment_steps = 2;
    return spec;
}

/// Parameters further from zero than the initial ones, so that every path has a gradient to speak of.
inline std::vector<float> parameters(const assay::program::ModelConfig& model, std::uint64_t seed) {
    std::vector<float> out = assay::program::initial_parameters(model, seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-0.4F, 0.4F);
    for (float& value : out) value += uniform(random);
    return out;
}

inline std::vector<std::uint32_t> tokens(const assay::program::ModelConfig& model, std::size_t sequences,
                                         std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> out(sequences * (model.context + 1));
    for (auto& token : out) token = static_cast<std::uint32_t>(random() % model.vocabulary);
    return out;
}

}  // namespace tiny
