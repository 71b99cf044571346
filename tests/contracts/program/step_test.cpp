// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <limits>

#include "contracts/program/state_root.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;

SlotArrays start(const ModelConfig& model) {
    SlotArrays state;
    state.parameters = initial_parameters(model, 42);
    state.first_moment.assign(state.parameters.size(), 0.0F);
    state.second_moment = state.first_moment;
    return state;
}

// Both profiles of every family.
struct GoldenRun {
    const char* name;
    ModelConfig (*model)();
    Profile profile;
    const char* root;  // of the golden run below
};
const std::vector<GoldenRun> kVariants = {
    {"gpt2 f32", tiny::model, Profile::kF32,
     "8736707014530d550914e74ad033b972e1bf23c626a38482d504dc422bd4a60a"},
    {"gpt2 i16", tiny::model, Profile::kI16,
     "43233df351b0c4f87fb4c9a60938395ca41fa8bfd35b90a00bcb8e4c42198ccb"},
    {"llama f32", tiny::llama, Profile::kF32,
     "2da08c5521cc1297a742470f92cf5d0ff6d74a4065f246185eb97da9056698c5"},
    {"llama i16", tiny::llama, Profile::kI16,
     "5d17c0858bf10821168fdad94f45cdaa1c980030b48af274894188593d6180ff"},
    {"llama untied f32", tiny::untied_llama, Profile::kF32,
     "e7d343140e69fe7a8cb121037258fa562b6fccfb362bdadba8d934fad9608ec1"},
    {"llama untied i16", tiny::untied_llama, Profile::kI16,
     "6d69249eaf85a04e9d17bbb173ce7a725f3b514680b6b3c4f927c26a9d9d44b6"},
};
}  // namespace

TEST_CASE("training on one batch lowers its loss") {
    const GoldenRun variant = GENERATE(from_range(kVariants));
    INFO(variant.name);
    auto spec = tiny::spec();
    spec.model = variant.model();
    const Program program = build_step_program(spec.model, spec.train, variant.profile);
    const Schedule schedule(spec.train);
    const auto tokens = tiny::tokens(spec.model, 2, 1);
    SlotArrays state = start(spec.model);
    float first = 0;
    float last = 0;
    for (std::uint32_t round = 0; round < 6; ++round) {
        for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
            const auto outcome = reference_step(program, schedule.at(round, step), tokens, state);
            REQUIRE_FALSE(outcome.diverged);
            last = std::bit_cast<float>(outcome.fingerprint.loss);
            if (round == 0 && step == 0) first = last;
        }
    }
    CHECK(first == Approx(std::log(11.0)).epsilon(0.01));
    CHECK(last < 0.8F * first);
}

TEST_CASE("five steps of the tiny job give the golden state root") {
    // Recipe: tests/contracts/program/tiny.hpp's spec and models, tokens(model, 2, 100 + step), five steps of
    // round 0 from initial_parameters(model, 42) and zero moments; slot_state_root after the fifth.
    const GoldenRun variant = GENERATE(from_range(kVariants));
    INFO(variant.name);
    auto spec = tiny::spec();
    spec.model = variant.model();
    const Program program = build_step_program(spec.model, spec.train, variant.profile);
    const Schedule schedule(spec.train);
    SlotArrays state = start(spec.model);
    for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
        const auto tokens = tiny::tokens(spec.model, 2, 100 + step);
        REQUIRE_FALSE(reference_step(program, schedule.at(0, step), tokens, state).diverged);
    }
    CHECK(slot_state_root(program.parameters, state.parameters, state.first_moment, state.second_moment, 5, 5)
              .hex() == variant.root);
}

TEST_CASE("the evaluation program gives the loss of the step") {
    const GoldenRun variant = GENERATE(from_range(kVariants));
    INFO(variant.name);
    auto spec = tiny::spec();
    spec.model = variant.model();
    const auto tokens = tiny::tokens(spec.model, 3, 2);
    SlotArrays state = start(spec.model);
    const auto loss =
        reference_loss(build_evaluate_program(spec.model, variant.profile), tokens, state.parameters);
    const auto outcome = reference_step(build_step_program(spec.model, spec.train, variant.profile),
                                        Schedule(spec.train).at(0, 0), tokens, state);
    REQUIRE(loss);
    CHECK(std::bit_cast<std::uint32_t>(*loss) == outcome.fingerprint.loss);
}

TEST_CASE("a step that meets an infinity names the first operator and leaves the state alone") {
    const auto spec = tiny::spec();
    const Program program = build_step_program(spec.model, spec.train, Profile::kF32);
    SlotArrays state = start(spec.model);
    const auto& weight = program.parameters[tensor_index(program.parameters, "h.1.mlp.c_fc.weight")];
    for (std::uint64_t i = 0; i < weight.size(); ++i) {
        state.parameters[weight.offset + i] = std::numeric_limits<float>::max() / (i % 2 == 0 ? 1.0F : -1.0F);
    }
    const auto before = state.parameters;
    const auto outcome =
        reference_step(program, Schedule(spec.train).at(0, 0), tiny::tokens(spec.model, 1, 3), state);
    REQUIRE(outcome.diverged);
    CHECK(program.operators[*outcome.diverged].name == "h.1.mlp.c_fc.forward");
    CHECK(state.parameters == before);
    CHECK(state.first_moment == std::vector<float>(before.size(), 0.0F));
}

TEST_CASE("weight decay touches matrices only") {
    auto spec = tiny::spec();
    SlotArrays plain = start(spec.model);
    SlotArrays decayed = plain;
    const auto tokens = tiny::tokens(spec.model, 1, 4);
    auto c = Schedule(spec.train).at(0, 0);
    const Program program = build_step_program(spec.model, spec.train, Profile::kF32);
    (void)reference_step(program, c, tokens, decayed);
    c.decay = 0.0F;
    (void)reference_step(program, c, tokens, plain);
    for (const TensorInfo& tensor : program.parameters) {
        bool same = true;
        for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
            same = same && plain.parameters[i] == decayed.parameters[i];
        }
        INFO(tensor.name);
        CHECK(same == tensor.is_vector);
    }
}
