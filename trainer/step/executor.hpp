// SPDX-License-Identifier: Apache-2.0
// Executor: runs a program of contracts/program on a backend, after a memory plan. Micro-batches, recompute,
// threads and the target leave every bit alone. All memory is taken when it is made; a step after the first
// allocates nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/trace.hpp"
#include "trainer/step/backend.hpp"
#include "trainer/step/memory_plan.hpp"

namespace assay::trainer {

/// A slot's arrays, each as long as the model's flat parameters. REQUIRES every number to be finite: the
/// packed operands of profile i16 have no place for others, and no step leaves one behind.
struct StateSpans {
    std::span<float> parameters;
    std::span<float> first_moment;
    std::span<float> second_moment;
    /// True only when no number has changed since this executor's last step, and nothing else ran between:
    /// what that step proved of the numbers then holds still.
    bool unchanged = false;
};

struct StepResult {
    program::Fingerprint fingerprint;
    std::optional<std::uint32_t> diverged;  ///< operator; the state is then as it was before the step
};

class Executor {
public:
    /// `program` is copied; `backend` must outlive the executor. `plan` is one of plan_memory() for the same
    /// program and backend. Throws std::bad_alloc.
    Executor(program::Program program, Backend& backend, MemoryPlan plan);

    /// Each of these REQUIRES the calling thread's floating-point mode to be that of the law (aborts
    /// otherwise).

    /// One step of a step program over `tokens` (sequences of T+1 ids below the vocabulary, at least one and
    /// at most the plan's batch).
    StepResult step(const arithmetic::AdamWCoefficients& coefficients, std::span<const std::uint32_t> tokens,
                    const StateSpans& state);

    /// Gives tokens of sequence i (T+1 of them) of an evaluation.
    using Sequences = std::function<void(std::uint64_t index, std::span<std::uint32_t> tokens)>;
    /// Mean loss of an evaluation program over `count` >= 1 sequences; nothing when it diverged. REQUIRES
    /// finite parameters. `stop` (may be empty) is asked between micro-batches and ends the work with
    /// nothing.
    std::optional<float> evaluate(std::span<const float> parameters, std::uint64_t count,
                                  const Sequences& sequences, const std::function<bool()>& stop);

    /// Logits after place `row` of one sequence of T tokens, by an evaluation program; nothing when it
    /// diverged. Valid until the next call. REQUIRES finite parameters.
    std::optional<std::span<const float>> logits(std::span<const float> parameters,
                                                 std::span<const std::uint32_t> inputs, std::uint64_t row);

    [[nodiscard]] const program::Program& program() const { return program_; }
    [[nodiscard]] const MemoryPlan& plan() const { return plan_; }
    /// Copies the flat gradient of the last step, before clipping.
    void gradient(std::span<float> out) const;

private:
    void place_gradients();
    void bind(program::Role role, std::span<float> flat);
    void clear_accumulators();
    // Runs groups [first, last) of the plan on the selected micro-batch.
    void run(std::size_t first, std::size_t last);
    [[nodiscard]] float scalar(program::TensorId id) const;

    program::Program program_;
    Backend& backend_;
    MemoryPlan plan_;
    std::uint64_t context_;
    std::uint64_t parameter_count_;
    float* block_ = nullptr;
    float* gradient_ = nullptr;        // flat, canonical order
    float* embedding_rows_ = nullptr;  // of a tied matrix
    std::vector<float*> tensors_;
    std::optional<Group> logits_group_;  // of an evaluation
    std::vector<std::uint32_t> tokens_;
    std::vector<float> logits_;
};

}  // namespace assay::trainer
