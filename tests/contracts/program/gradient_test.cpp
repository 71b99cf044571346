// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "tests/contracts/program/double_model.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;

/// Central differences of the binary64 loss, for every parameter.
std::vector<double> slopes(const ModelConfig& model, const std::vector<double>& flat,
                           const std::vector<std::uint32_t>& tokens) {
    constexpr double kStep = 1e-5;
    const tiny::DoubleModel exact(model);
    std::vector<double> out(flat.size());
    std::vector<double> moved = flat;
    for (std::size_t i = 0; i < flat.size(); ++i) {
        moved[i] = flat[i] + kStep;
        const double above = exact.loss(moved, tokens);
        moved[i] = flat[i] - kStep;
        out[i] = (above - exact.loss(moved, tokens)) / (2 * kStep);
        moved[i] = flat[i];
    }
    return out;
}

/// A shape, its parameters and tokens, and the true gradient.
struct Example {
    ModelConfig model;
    std::vector<float> parameters;
    std::vector<std::uint32_t> tokens;
    double loss = 0;
    std::vector<double> gradient;
};

StepOutcome run(const Example& example, Profile profile) {
    SlotArrays state{example.parameters, std::vector<float>(example.parameters.size()),
                     std::vector<float>(example.parameters.size())};
    const Program program = build_step_program(example.model, tiny::spec().train, profile);
    StepOutcome outcome =
        reference_step(program, Schedule(tiny::spec().train).at(0, 0), example.tokens, state);
    REQUIRE_FALSE(outcome.diverged);
    return outcome;
}

double norm(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

/// Shapes with one head, several heads, one layer, head dimension 1 (GPT-2) and 2; shared keys, one key head
/// for all, no sharing; a tied head and one of its own.
std::vector<ModelConfig> shapes() {
    ModelConfig one_group = tiny::llama();
    one_group.kv_heads = 1;
    ModelConfig no_groups = tiny::llama();
    no_groups.kv_heads = no_groups.heads;
    no_groups.layers = 1;
    no_groups.norm_epsilon = 1e-2F;
    ModelConfig wide = tiny::llama();
    wide.layers = 1;
    wide.width = 36;
    wide.heads = 2;
    wide.hidden = 35;
    return {tiny::model(),
            {.layers = 1, .width = 4, .heads = 4, .context = 3, .vocabulary = 5},
            {.layers = 1, .width = 33, .heads = 1, .context = 2, .vocabulary = 3},
            tiny::llama(),
            tiny::untied_llama(),
            one_group,
            no_groups,
            wide};
}

/// Computed once: differences cost two evaluations for every parameter.
const std::vector<Example>& examples() {
    static const std::vector<Example> all = [] {
        std::vector<Example> out;
        for (const ModelConfig& model : shapes()) {
            Example one{model, tiny::parameters(model, 9), tiny::tokens(model, 3, 5), 0, {}};
            const std::vector<double> flat(one.parameters.begin(), one.parameters.end());
            one.loss = tiny::DoubleModel(model).loss(flat, one.tokens);
            one.gradient = slopes(model, flat, one.tokens);
            out.push_back(std::move(one));
        }
        return out;
    }();
    return all;
}
}  // namespace

TEST_CASE("every gradient of a step in f32 agrees with finite differences of a binary64 model") {
    for (const Example& example : examples()) {
        const StepOutcome outcome = run(example, Profile::kF32);
        const std::vector<double>& wanted = example.gradient;
        CHECK(std::bit_cast<float>(outcome.fingerprint.loss) == Approx(example.loss).epsilon(2e-6));
        for (const TensorInfo& tensor : parameter_tensors(example.model)) {
            INFO(tensor.name << " of width " << example.model.width);
            double worst = 0;
            double largest = 0;
            for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
                worst = std::max(worst, std::fabs(wanted[i] - static_cast<double>(outcome.gradient[i])));
                largest = std::max(largest, std::fabs(wanted[i]));
            }
            CHECK(worst < 2e-6 + 2e-5 * largest);
        }
        CHECK(std::bit_cast<float>(outcome.fingerprint.norm) == Approx(norm(wanted)).epsilon(1e-5));
    }
}

TEST_CASE("gradients of a step in i16 are those of the binary64 model up to the operands' rounding") {
    // A row of 16-bit fixed point has an error of at most 2^-15 of its largest number, about 5e-5 of its norm
    // in the mean; a gradient has passed some 20 to 40 products of two such operands, whose errors are
    // independent: sqrt(80) · 5e-5 = 4.5e-4 of the tensor's norm. Twice that is allowed. A missing term, a
    // wrong factor or a wrong scale is off by 1e-2 or more. A tensor whose true gradient nearly cancels (a
    // key bias has no influence at all) is held to a hundredth of the whole gradient.
    constexpr double kAllowed = 1e-3;
    double worst = 0;
    for (const Example& example : examples()) {
        const StepOutcome outcome = run(example, Profile::kI16);
        CHECK(std::bit_cast<float>(outcome.fingerprint.loss) == Approx(example.loss).epsilon(2e-4));
        const double whole = norm(example.gradient);
        for (const TensorInfo& tensor : parameter_tensors(example.model)) {
            INFO(tensor.name << " of width " << example.model.width);
            const auto part = std::span(example.gradient).subspan(tensor.offset, tensor.size());
            std::vector<double> error(tensor.size());
            for (std::size_t i = 0; i < error.size(); ++i) {
                error[i] = static_cast<double>(outcome.gradient[tensor.offset + i]) - part[i];
            }
            const double relative = norm(error) / std::max(norm(part), 1e-2 * whole);
            CHECK(relative < kAllowed);
            worst = std::max(worst, relative);
        }
    }
    std::printf(
        "i16: largest relative difference of a gradient tensor to finite differences %.3g (allowed %.3g)\n",
        worst, kAllowed);
}
