// SPDX-License-Identifier: Apache-2.0
// What profile i16's rounding of operands does to the gradients of models of real size. Minutes of scalar
// loops, so it runs only when it is named: program_test "[rounding]".
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;

constexpr ModelConfig kGpt2{.layers = 4, .width = 256, .heads = 4, .context = 128, .vocabulary = 8192};
constexpr ModelConfig kLlama{.family = Family::kLlama,
                             .layers = 4,
                             .width = 256,
                             .heads = 8,
                             .context = 128,
                             .vocabulary = 8192,
                             .kv_heads = 4,
                             .hidden = 688,
                             .rope_theta = 10000.0F};

/// Initial weights, matrices times `factor`: with 3, softmax and gates are away from their linear middle.
std::vector<float> weights(const ModelConfig& model, float factor) {
    std::vector<float> out = initial_parameters(model, 7);
    for (const TensorInfo& tensor : parameter_tensors(model)) {
        if (tensor.is_vector) continue;
        for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) out[i] *= factor;
    }
    return out;
}

/// Token ids with the frequencies of words: the logarithm is uniform.
std::vector<std::uint32_t> words(const ModelConfig& model, std::size_t sequences) {
    std::vector<std::uint32_t> out(sequences * (model.context + 1U));
    std::uint32_t state = 5;
    for (std::uint32_t& token : out) {
        state = state * 1664525U + 1013904223U;
        const double uniform = static_cast<double>((state >> 8) + 1) * 0x1p-24;
        const double rank = std::floor(std::pow(static_cast<double>(model.vocabulary), uniform)) - 1;
        token = std::min(static_cast<std::uint32_t>(rank), model.vocabulary - 1);
    }
    return out;
}

struct MeasuredStep {
    double loss = 0;
    std::vector<float> gradient;
};

MeasuredStep run(const ModelConfig& model, const std::vector<float>& parameters, Profile profile) {
    SlotArrays state{parameters, std::vector<float>(parameters.size()),
                     std::vector<float>(parameters.size())};
    const TrainConfig train = tiny::spec().train;
    StepOutcome outcome = reference_step(build_step_program(model, train, profile), Schedule(train).at(0, 0),
                                         words(model, 2), state);
    REQUIRE_FALSE(outcome.diverged);
    return {static_cast<double>(std::bit_cast<float>(outcome.fingerprint.loss)), std::move(outcome.gradient)};
}
}  // namespace

TEST_CASE("at five million parameters the gradients of i16 are within a thousandth of those of f32",
          "[.][rounding]") {
    for (const auto& [name, model] : {std::pair{"gpt2", kGpt2}, std::pair{"llama", kLlama}}) {
        for (const float factor : {1.0F, 3.0F}) {
            const auto parameters = weights(model, factor);
            const MeasuredStep chains = run(model, parameters, Profile::kF32);
            const MeasuredStep exact = run(model, parameters, Profile::kI16);
            CHECK(exact.loss == Approx(chains.loss).epsilon(1e-5));
            double worst = 0;
            double all_error = 0;
            double all = 0;
            for (const TensorInfo& tensor : parameter_tensors(model)) {
                double error = 0;
                double norm = 0;
                for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
                    const auto wanted = static_cast<double>(chains.gradient[i]);
                    error += std::pow(static_cast<double>(exact.gradient[i]) - wanted, 2.0);
                    norm += wanted * wanted;
                }
                INFO(name << ", " << tensor.name);
                CHECK(std::sqrt(error / norm) < 1e-3);
                worst = std::max(worst, std::sqrt(error / norm));
                all_error += error;
                all += norm;
            }
            std::printf(
                "%s, weights times %g: i16's gradient differs by %.2g of its norm, a tensor's by %.2g\n",
                name, static_cast<double>(factor), std::sqrt(all_error / all), worst);
        }
    }
}
