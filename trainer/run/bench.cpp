// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/bench.hpp"

#include <new>
#include <vector>

#include "contracts/arithmetic/philox.hpp"
#include "contracts/program/initial.hpp"
#include "trainer/cpu/cpu_backend.hpp"
#include "trainer/step/executor.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {

namespace {
std::vector<float> noise(std::uint64_t count, std::uint32_t which) {
    std::vector<float> values(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto word = arithmetic::philox({static_cast<std::uint32_t>(i), which, 0, 0}, {1, 2})[0];
        values[i] = static_cast<float>(word >> 8) * 0x1p-23F - 1.0F;
    }
    return values;
}

// As the operator table has them (contracts/program/operator_table.hpp).
constexpr std::uint64_t kSequence = 256;  // tokens of one: the block of a weight gradient's sums
constexpr std::uint8_t kLogitsGradientDigits = 3;

// Matrices as a layer holds them: x [tokens,in], w [in,out], the head's [out,in], y [tokens,out].
struct GemmBench {
    GemmBench(GemmShape shape, GemmKind kind, const BenchOptions& options)
        : table(products(options.profile, options.target)), pool(options.threads) {
        const auto [t, in, out] = shape;
        const bool of_head = kind == GemmKind::kHeadInputGradient || kind == GemmKind::kHeadWeightGradient;
        const std::vector<float> x = noise(t * in, 1);
        const std::vector<float> w = noise(in * out, 2);
        const std::vector<float> dy = noise(t * out, 3);
        switch (kind) {
            case GemmKind::kForward:
                a = x, b = w;
                p = {t, out, in, {a.data(), in, 1}, {b.data(), out, 1}, nullptr, out};
                break;
            case GemmKind::kInputGradient:
            case GemmKind::kHeadInputGradient:
                a = dy, b = w;
                p = {t, in, out, {a.data(), out, 1}, {b.data(), 1, out}, nullptr, in};
                if (of_head) p.b = {b.data(), in, 1};
                break;
            case GemmKind::kWeightGradient:
                a = x, b = dy;
                p = {in, out, t, {a.data(), 1, in}, {b.data(), out, 1}, nullptr, out};
                break;
            case GemmKind::kHeadWeightGradient:
                a = dy, b = x;
                p = {out, in, t, {a.data(), 1, out}, {b.data(), in, 1}, nullptr, in};
                break;
        }
        if (of_head) p.rule.a_digits = kLogitsGradientDigits;
        if (kind == GemmKind::kWeightGradient || kind == GemmKind::kHeadWeightGradient) {
            p.rule.block = kSequence;
            p.start = ChainStart::kCarry;
        }
        c.resize(p.m * p.n);
        p.c = c.data();
    }
    void operator()() { table.product(p, pool); }
    const ProductKernels& table;
    ThreadPool pool;
    std::vector<float> a, b, c;
    Product p;
};

struct StepBench {
    StepBench(const program::ModelConfig& model, const program::TrainConfig& train,
              const BenchOptions& options)
        : pool(options.threads),
          arena(make_heap_arena()),
          backend(options.target, pool, *arena),
          executor(make_executor(program::build_step_program(model, train, options.profile), train.batch)),
          parameters(program::initial_parameters(model, 1)),
          first(parameters.size(), 0.0F),
          second(parameters.size(), 0.0F) {
        const std::uint64_t count = std::uint64_t{train.batch} * (model.context + 1);
        for (std::uint32_t i = 0; i < count; ++i) {
            tokens.push_back(arithmetic::philox({i, 0, 0, 0}, {3, 4})[0] % model.vocabulary);
        }
    }
    void operator()() {
        arithmetic::AdamWCoefficients c{1e-3F, 1e-4F, 0.9F, 0.1F, 0.95F, 0.05F, 1.0F, 1.0F, 1e-8F};
        executor.step(c, tokens, {parameters, first, second});
    }
    Executor make_executor(const program::Program& program, std::uint32_t batch) {
        const auto plan = choose_plan(program, backend, {batch, 0, 0});
        return {program, backend, plan.value()};
    }
    ThreadPool pool;
    std::unique_ptr<Arena> arena;
    CpuBackend backend;
    Executor executor;
    std::vector<float> parameters, first, second;
    std::vector<std::uint32_t> tokens;
};
}  // namespace

std::function<void()> make_gemm_bench(GemmShape shape, GemmKind kind, const BenchOptions& options) {
    return [bench = std::make_shared<GemmBench>(shape, kind, options)] { (*bench)(); };
}

base::Outcome<std::function<void()>> make_step_bench(const program::ModelConfig& model, std::uint32_t batch,
                                                     const BenchOptions& options) {
    if (model.heads == 0 || model.width % model.heads != 0 || model.layers == 0 || model.context == 0 ||
        model.vocabulary < 2 || batch == 0) {
        return base::fail(base::ErrorKind::kUsage,
                          "bench: a size of the model is 0 or heads do not divide width",
                          "give a model that a job could have");
    }
    program::TrainConfig train;
    train.batch = batch;
    train.inner_steps = 1;
    try {
        return std::function<void()>(
            [bench = std::make_shared<StepBench>(model, train, options)] { (*bench)(); });
    } catch (const std::bad_alloc&) {
        return base::fail(base::ErrorKind::kFailure, "bench: there is not enough memory for this model",
                          "use a smaller model or batch");
    }
}

}  // namespace assay::trainer
