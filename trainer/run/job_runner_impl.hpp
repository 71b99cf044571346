// SPDX-License-Identifier: Apache-2.0
// What a JobRunner holds; shared by its source files.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/schedule.hpp"
#include "trainer/cpu/cpu_backend.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/step/executor.hpp"

namespace assay::trainer {

struct JobRunner::Impl {
    Impl(const program::JobSpec& job, TokenView train_tokens, TokenView held_out_tokens,
         const RunnerOptions& options);

    /// Memory plans within the budget; kPreflight when there are none.
    base::Outcome<void> plan();
    /// kPreflight when the floating-point mode of the calling thread is not that of the law, or that of a
    /// pool thread was not while it worked. A library may change it at any time: asked before and after each
    /// step.
    base::Outcome<void> check_mode();
    /// Made when first needed: a verifier that only merges never pays for a step's memory.
    Executor& step_executor();
    Executor& evaluator();
    [[nodiscard]] bool is_finite(std::span<const float> values);

    program::JobSpec spec;
    TokenView train;
    TokenView held_out;
    std::uint32_t micro_batch;
    std::uint64_t memory;
    std::vector<program::TensorInfo> tensors;
    std::uint64_t parameters;
    program::BatchMap batches;
    program::Schedule schedule;
    std::unique_ptr<Arena> own_arena;
    Arena& arena;
    ThreadPool pool;
    const Kernels& kernels;
    CpuBackend backend;
    MemoryPlan step_plan;
    MemoryPlan evaluate_plan;
    std::optional<Executor> step_;
    std::optional<Executor> evaluator_;
    std::vector<std::uint32_t> tokens;  // of the step at hand
};

/// The next token after `logits`, drawn by `uniform` in [0, 1): by inverse of the cumulative softmax at
/// `temperature`, in binary64 on exp32 of the shifted logits; the likeliest (lowest index) at temperature 0.
std::uint32_t choose_token(std::span<const float> logits, float temperature, double uniform);

}  // namespace assay::trainer
