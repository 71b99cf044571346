// SPDX-License-Identifier: Apache-2.0
// Our step beside LibTorch's autograd in binary64, on a tiny GPT-2 with every part of the real one.
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
#include "trainer/job_runner.hpp"
#include "trainer/torch/torch_model.hpp"

using namespace assay;

namespace {

/// Ours is binary32 with an error of 2^-24 per operation; sums here have up to a few hundred terms, so
/// 500 · 2^-24 ≈ 3e-5 of a tensor's own norm bounds it with room. A wrong sign, factor or missing term is
/// off by 1e-2 or more.
constexpr double kTensorTolerance = 3e-5;
/// The mean loss is a sum over 24 tokens of exact-to-ulps terms.
constexpr double kLossTolerance = 2e-6;

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
    const tests::TinyJob job = tests::tiny_job();
    const auto tokens = first_batch(job);
    const auto program = program::build_step_program(job.spec.model, job.spec.train, job.spec.profile);
    const auto parameters = spread_parameters(job.spec);
    program::SlotArrays state{parameters, std::vector<float>(parameters.size()),
                              std::vector<float>(parameters.size())};
    const auto ours =
        program::reference_step(program, program::Schedule(job.spec.train).at(0, 0), tokens, state);
    REQUIRE_FALSE(ours.diverged.has_value());
    trainer::TorchModel oracle(job.spec.model, parameters, trainer::TorchPrecision::kFloat64);
    const trainer::TorchLoss theirs = oracle.loss_and_gradient(tokens);

    const double loss = static_cast<double>(std::bit_cast<float>(ours.fingerprint.loss));
    CHECK(std::abs(loss - theirs.loss) < kLossTolerance * theirs.loss);
    REQUIRE(theirs.gradient.size() == ours.gradient.size());
    double worst = 0;
    for (const program::TensorInfo& tensor : program::parameter_tensors(job.spec.model)) {
        const std::span<const double> oracle_part(theirs.gradient.data() + tensor.offset, tensor.size());
        std::vector<double> error(tensor.size());
        for (std::size_t i = 0; i < error.size(); ++i) {
            error[i] = static_cast<double>(ours.gradient[tensor.offset + i]) - oracle_part[i];
        }
        // The key bias has no influence on a softmax, so its true gradient is 0 in exact arithmetic: such a
        // tensor is held to the scale of the whole gradient.
        const double scale = std::max(norm(oracle_part), 1e-2 * norm(theirs.gradient));
        const double relative = norm(error) / scale;
        worst = std::max(worst, relative);
        INFO(tensor.name << ": relative difference " << relative);
        CHECK(relative < kTensorTolerance);
    }
    std::printf(
        "largest relative difference of a gradient tensor to LibTorch binary64: %.3g (allowed %.3g)\n", worst,
        kTensorTolerance);
}

TEST_CASE("a step of the executor has the loss, norm and new parameters of LibTorch in binary64") {
    tests::TinyJob job = tests::tiny_job();
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

    trainer::TorchModel oracle(job.spec.model, base.parameters, trainer::TorchPrecision::kFloat64);
    const trainer::TorchLoss theirs = oracle.loss_and_gradient(tokens);
    const double gradient_norm = norm(theirs.gradient);
    CHECK(std::abs(static_cast<double>(std::bit_cast<float>(ours.loss)) - theirs.loss) <
          kLossTolerance * theirs.loss);
    CHECK(std::abs(static_cast<double>(std::bit_cast<float>(ours.norm)) - gradient_norm) <
          kTensorTolerance * gradient_norm);

    CHECK(oracle.train_step(job.spec.train, tokens) == theirs.loss);
    const auto expected = oracle.parameters();
    const double rate = static_cast<double>(job.spec.train.learning_rate.value());
    double worst = 0;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        // AdamW's first step is rate · sign(gradient): where the gradient is smaller than its own error,
        // the sign is anybody's guess.
        if (std::abs(theirs.gradient[i]) < 1e-4 * gradient_norm) continue;
        ++compared;
        worst = std::max(worst, std::abs(static_cast<double>(round->end.parameters[i]) - expected[i]) / rate);
    }
    INFO("largest difference of a parameter, in learning rates: " << worst);
    CHECK(compared > expected.size() / 2);
    CHECK(worst < 1e-3);  // a clip, decay, bias correction or rate that differs shows as 1e-2 or more
}

TEST_CASE("the binary32 peer lowers its loss on a batch that it sees again and again") {
    const tests::TinyJob job = tests::tiny_job();
    const auto tokens = first_batch(job);
    trainer::TorchModel peer(job.spec.model, program::initial_parameters(job.spec.model, job.spec.seed),
                            trainer::TorchPrecision::kFloat32);
    const double first = peer.train_step(job.spec.train, tokens);
    double last = first;
    for (int step = 0; step < 20; ++step) last = peer.train_step(job.spec.train, tokens);
    CHECK(last < 0.9 * first);
}
