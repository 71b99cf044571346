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
     "f3b058c76f7fe1c6ee79ef6e17aa6cc3d0fb74525c42790d10d1e10cff175714"},
    {"gpt2 i16", tiny::model, Profile::kI16,
     "6fbc44097d2dd30d5107ae127a06a34d9b997237757a9a10dced77e419b61c78"},
    {"llama f32", tiny::llama, Profile::kF32,
     "fa9380b15dc43a44b12dcf74ea4e93d376de351a8a2849897b3bd2b3dc70de06"},
    {"llama i16", tiny::llama, Profile::kI16,
     "181f88cd1e74adfeba71d3c723de0283cbc51a143997b78858a4547bbbaac96c"},
    {"llama untied f32", tiny::untied_llama, Profile::kF32,
     "49c6812ae767322962f4472f5fc44e991a516bfcc8e66a824b2329949eb47b03"},
    {"llama untied i16", tiny::untied_llama, Profile::kI16,
     "169bba4fb621d4d6b143554f003d13181ca31fad4238cc0a4d984ccceaf4c5b0"},
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
