// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/dispute/step.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/initial.hpp"
#include "contracts/program/state_root.hpp"

namespace disputed {

namespace {
using namespace assay;
using namespace assay::program;

ModelConfig gpt2(std::uint32_t width, std::uint32_t heads, std::uint32_t context, std::uint32_t vocabulary) {
    return {.layers = 1, .width = width, .heads = heads, .context = context, .vocabulary = vocabulary};
}

ModelConfig llama(std::uint32_t width, std::uint32_t heads, std::uint32_t context, std::uint32_t vocabulary,
                  Head head) {
    return {.family = Family::kLlama,
            .layers = 1,
            .width = width,
            .heads = heads,
            .context = context,
            .vocabulary = vocabulary,
            .kv_heads = heads / 2,
            .hidden = 20,
            .rope_theta = 100.0F,
            .head = head};
}

void add_both_profiles(std::vector<StepVariant>& out, const std::string& name, const ModelConfig& model) {
    out.push_back({name + " f32", model, Profile::kF32});
    out.push_back({name + " i16", model, Profile::kI16});
}

JobSpec spec_of(const StepVariant& variant) {
    JobSpec spec;
    spec.name = "disputed";
    spec.profile = variant.profile;
    spec.slots = 1;
    spec.rounds = 2;
    spec.seed = 7;
    spec.model = variant.model;
    spec.train.inner_steps = 4;
    spec.train.batch = 2;
    spec.train.warmup_steps = 4;
    spec.train.learning_rate = 1e-2F;
    spec.data.train_tokens = std::uint64_t{variant.model.context} * 6 + 2'500;
    spec.security.segment_steps = 2;
    return spec;
}

base::Bytes token_file(const JobSpec& spec, std::mt19937_64& random) {
    const std::uint64_t width = token_bytes(spec.model.vocabulary);
    base::Bytes out(token_file_size(spec.data.train_tokens, spec.model.vocabulary), 0);
    for (std::uint64_t t = 0; t < spec.data.train_tokens; ++t) {
        const std::uint64_t token = random() % spec.model.vocabulary;
        for (std::uint64_t i = 0; i < width; ++i) {
            out[kTokenFileHeader + t * width + i] = static_cast<std::uint8_t>(token >> (8 * i));
        }
    }
    return out;
}

SlotArrays state_of(const ModelConfig& model, Numbers numbers, std::mt19937_64& random) {
    SlotArrays out;
    out.parameters = initial_parameters(model, 42);
    // Of [-0.4, 0.4), with the same numbers under every standard library.
    const auto uniform = [](std::mt19937_64& bits) {
        return static_cast<float>(bits() >> 40U) * 0x1p-24F * 0.8F - 0.4F;
    };
    for (float& value : out.parameters) value += uniform(random);
    for (std::size_t i = 0; i < out.parameters.size(); ++i) {
        out.first_moment.push_back(uniform(random) * 1e-2F);
        out.second_moment.push_back(std::fabs(uniform(random)) * 1e-4F);
    }
    if (numbers == Numbers::kOrdinary) return out;
    for (auto* const array : {&out.parameters, &out.first_moment, &out.second_moment}) {
        for (float& value : *array) {
            const auto bits = static_cast<std::uint32_t>(random());
            const bool is_second = array == &out.second_moment;
            value = numbers == Numbers::kNegativeZero
                        ? (is_second ? 0.0F : -0.0F)
                        : std::bit_cast<float>(bits & (is_second ? 0x007fffffU : 0x807fffffU));
        }
    }
    return out;
}
}  // namespace

std::vector<StepVariant> small_variants() {
    std::vector<StepVariant> out;
    add_both_profiles(out, "gpt2", gpt2(12, 2, 18, 530));
    add_both_profiles(out, "llama", llama(24, 4, 5, 19, Head::kTied));
    add_both_profiles(out, "llama untied", llama(40, 4, 20, 35, Head::kUntied));
    add_both_profiles(out, "gpt2 wide", gpt2(520, 2, 3, 11));
    add_both_profiles(out, "llama wide", llama(536, 4, 3, 11, Head::kTied));
    return out;
}

std::vector<StepVariant> long_variants() {
    std::vector<StepVariant> out;
    add_both_profiles(out, "gpt2 long", gpt2(8, 2, 522, 21));
    add_both_profiles(out, "gpt2 narrow heads", gpt2(32, 16, 528, 21));
    add_both_profiles(out, "llama long", llama(8, 2, 530, 21, Head::kUntied));
    return out;
}

void make_step(Step& out, const StepVariant& variant, Numbers numbers) {
    std::mt19937_64 random(11);
    out.name = variant.name;
    out.spec = spec_of(variant);
    out.program = build_step_program(variant.model, out.spec.train, variant.profile);
    out.inputs.facts = dispute::facts_of(out.spec, out.program, {.round = 0, .slot = 0, .step = 1, .age = 1});
    out.inputs.token_file = token_file(out.spec, random);
    out.inputs.state = state_of(variant.model, numbers, random);
    make_roots(out);
    out.data = base::blob_id(out.inputs.token_file);
}

void make_roots(Step& out) {
    StateRoots roots;
    roots.parameters = array_root(out.program.parameters, out.inputs.state.parameters);
    roots.first_moment = array_root(out.program.parameters, out.inputs.state.first_moment);
    roots.second_moment = array_root(out.program.parameters, out.inputs.state.second_moment);
    roots.step_count = 1;
    roots.data_cursor = 1;
    out.inputs.components = component_leaves(roots);
    out.state_root = program::state_root(roots);
}

}  // namespace disputed
