// SPDX-License-Identifier: Apache-2.0
// Our step beside LibTorch's autograd in binary64, on a tiny model of each family with every part of the real
// one, in both profiles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/initial.hpp"
#include "contracts/program/reference_step.hpp"
#include "contracts/program/schedule.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/torch/torch_model.hpp"

using namespace assay;

namespace {

/// Ours is binary32 with an error of 2^-24 per operation; sums here have up to a few hundred terms, so
/// 500 · 2^-24 ≈ 3e-5 of a tensor's own norm bounds it with room. A wrong sign, factor or missing term is
/// off by 1e-2 or more.
constexpr double kTensorTolerance = 3e-5;
/// The mean loss is a sum over 24 tokens of exact-to-ulps terms.
constexpr double kLossTolerance = 2e-6;
/// Profile i16: a row of 16-bit fixed point is off by at most 2^-15 of its largest number, about 5e-5 of its
/// norm in the mean. A gradient here has passed up to 40 products of two such operands, whose errors are
/// independent: sqrt(80) · 5e-5 = 4.5e-4 of the tensor's norm. Twice that is allowed; see above for what a
/// mistake would show.
constexpr double kFixedPointTolerance = 1e-3;
constexpr double kFixedPointLossTolerance = 2e-4;

program::ModelConfig llama(program::Head head) {
    return {.family = program::Family::kLlama,
            .layers = 2,
            .width = 24,
            .heads = 6,
            .context = 12,
            .vocabulary = 29,
            .kv_heads = 2,
            .hidden = 40,
            .rope_theta = 10000.0F,
            .head = head};
}

struct Variant {
    const char* name;
    program::ModelConfig model;
    program::Profile profile;

    [[nodiscard]] bool fixed_point() const { return profile == program::Profile::kI16; }
    [[nodiscard]] double tensor_tolerance() const {
        return fixed_point() ? kFixedPointTolerance : kTensorTolerance;
    }
    [[nodiscard]] double loss_tolerance() const {
        return fixed_point() ? kFixedPointLossTolerance : kLossTolerance;
    }
};

std::vector<Variant> variants() {
    const program::ModelConfig gpt2 = tests::tiny_job().spec.model;
    const program::ModelConfig tied = llama(program::Head::kTied);
    const program::ModelConfig untied = llama(program::Head::kUntied);
    return {{"gpt2 f32", gpt2, program::Profile::kF32},
            {"gpt2 i16", gpt2, program::Profile::kI16},
            {"llama f32", tied, program::Profile::kF32},
            {"llama i16", tied, program::Profile::kI16},
            {"llama untied f32", untied, program::Profile::kF32},
            {"llama untied i16", untied, program::Profile::kI16}};
}

/// Weights away from their start, so that no gradient is small by symmetry and no gain is exactly one.
std::vector<float> spread_parameters(const program::JobSpec& spec) {
    std::vector<float> parameters = program::initial_parameters(spec.model, spec.seed);
    std::uint32_t state = 99;
    for (float& parameter : parameters) {
        state = state * 1664525U + 1013904223U;
        parameter = 3.0F * parameter + 0.1F * (static_cast<float>(state >> 8) * 0x1p-24F - 0.5F);
    }
    return parameters;
}

/// Tokens of the first inner step of slot 0.
std::vector<std::uint32_t> first_batch(const tests::TinyJob& job) {
    const program::BatchMap map(job.spec);
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t i = 0; i < job.spec.train.batch; ++i) {
        const std::uint64_t first = map.first_token({0, 0, 0, i});
        for (std::uint64_t k = 0; k <= job.spec.model.context; ++k) tokens.push_back(job.tokens[first + k]);
    }
    return tokens;
}

double norm(std::span<const double> values) {
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

}  // namespace

TEST_CASE("loss and every parameter gradient of the law are those of LibTorch in binary64") {
    for (const Variant& one : variants()) {
        tests::TinyJob job = tests::tiny_job();
        const double allowed = one.tensor_tolerance();
        job.spec.model = one.model;
        const auto tokens = first_batch(job);
        const auto program = program::build_step_program(one.model, job.spec.train, one.profile);
        const auto parameters = spread_parameters(job.spec);
        program::SlotArrays state{parameters, std::vector<float>(parameters.size()),
                                  std::vector<float>(parameters.size())};
        const auto ours =
            program::reference_step(program, program::Schedule(job.spec.train).at(0, 0), tokens, state);
        REQUIRE_FALSE(ours.diverged.has_value());
        trainer::TorchModel oracle(one.model, parameters, trainer::TorchPrecision::kFloat64);
        const trainer::TorchLoss theirs = oracle.loss_and_gradient(tokens);

        const double loss = static_cast<double>(std::bit_cast<float>(ours.fingerprint.loss));
        CHECK(std::abs(loss - theirs.loss) < one.loss_tolerance() * theirs.loss);
        REQUIRE(theirs.gradient.size() == ours.gradient.size());
        double worst = 0;
        for (const program::TensorInfo& tensor : program::parameter_tensors(one.model)) {
            const std::span<const double> oracle_part(theirs.gradient.data() + tensor.offset, tensor.size());
            std::vector<double> error(tensor.size());
            for (std::size_t i = 0; i < error.size(); ++i) {
                error[i] = static_cast<double>(ours.gradient[tensor.offset + i]) - oracle_part[i];
            }
            // The key bias has no influence on a softmax, so its true gradient is 0 in exact arithmetic: such
            // a tensor is held to the scale of the whole gradient.
            const double scale = std::max(norm(oracle_part), 1e-2 * norm(theirs.gradient));
            const double relative = norm(error) / scale;
            worst = std::max(worst, relative);
            INFO(one.name << ", " << tensor.name << ": relative difference " << relative);
            CHECK(relative < allowed);
        }
        std::printf(
            "%s: largest relative difference of a gradient tensor to LibTorch binary64 %.3g (allowed %.3g)\n",
            one.name, worst, allowed);
    }
}

TEST_CASE("a step of the executor has the loss, norm and new parameters of LibTorch in binary64") {
    for (const Variant& one : variants()) {
        INFO(one.name);
        tests::TinyJob job = tests::tiny_job();
        job.spec.model = one.model;
        job.spec.profile = one.profile;
        job.spec.train.warmup_steps = 0;  // LibTorch's optimizer is given the plain rate
        job.spec.train.inner_steps = 1;
        job.spec.security.segment_steps = 1;
        const auto tokens = first_batch(job);
        const auto runner = trainer::JobRunner::create(job.spec, {job.tokens}, {job.tokens}, {});
        REQUIRE(runner.ok());
        trainer::BaseState base = (*runner)->initial();
        base.parameters = spread_parameters(job.spec);
        const auto round = (*runner)->run_slot_round(base, 0, 0, std::nullopt, {}, {});
        REQUIRE(round.ok());
        REQUIRE(round->trace.fingerprints.size() == 1);
        const program::Fingerprint ours = round->trace.fingerprints.front();

        trainer::TorchModel oracle(one.model, base.parameters, trainer::TorchPrecision::kFloat64);
        const trainer::TorchLoss theirs = oracle.loss_and_gradient(tokens);
        const double gradient_norm = norm(theirs.gradient);
        CHECK(std::abs(static_cast<double>(std::bit_cast<float>(ours.loss)) - theirs.loss) <
              one.loss_tolerance() * theirs.loss);
        CHECK(std::abs(static_cast<double>(std::bit_cast<float>(ours.norm)) - gradient_norm) <
              one.tensor_tolerance() * gradient_norm);

        CHECK(oracle.train_step(job.spec.train, tokens) == theirs.loss);
        const auto expected = oracle.parameters();
        const double rate = static_cast<double>(job.spec.train.learning_rate.value());
        double worst = 0;
        std::size_t compared = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            // AdamW's first step is rate · sign(gradient): where the gradient is smaller than its own error,
            // the sign is anybody's guess.
            if (std::abs(theirs.gradient[i]) < (one.fixed_point() ? 1e-3 : 1e-4) * gradient_norm) continue;
            ++compared;
            worst =
                std::max(worst, std::abs(static_cast<double>(round->end.parameters[i]) - expected[i]) / rate);
        }
        INFO("largest difference of a parameter, in learning rates: " << worst);
        CHECK(compared > expected.size() / 2);
        CHECK(worst < 1e-3);  // a clip, decay, bias correction or rate that differs shows as 1e-2 or more
    }
}

TEST_CASE("the binary32 peers lower their loss on a batch that they see again and again") {
    tests::TinyJob job = tests::tiny_job();
    for (const program::ModelConfig& model : {job.spec.model, llama(program::Head::kUntied)}) {
        job.spec.model = model;
        const auto tokens = first_batch(job);
        trainer::TorchModel peer(model, program::initial_parameters(model, job.spec.seed),
                                 trainer::TorchPrecision::kFloat32);
        const double first = peer.train_step(job.spec.train, tokens);
        double last = first;
        for (int step = 0; step < 20; ++step) last = peer.train_step(job.spec.train, tokens);
        CHECK(last < 0.9 * first);
    }
}
