// SPDX-License-Identifier: Apache-2.0
// Executor: runs a program of contracts/program with the kernels of a target. Micro-batches, threads and the
// target leave every bit alone. All memory is taken when it is made; a step allocates next to nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/trace.hpp"
#include "trainer/arena.hpp"
#include "trainer/exact/cpu/kernels.hpp"
#include "trainer/memory_plan.hpp"
#include "trainer/thread_pool.hpp"

namespace assay::trainer {

/// A slot's arrays, each as long as the model's flat parameters.
struct StateSpans {
    std::span<float> parameters;
    std::span<float> first_moment;
    std::span<float> second_moment;
};

struct StepResult {
    program::Fingerprint fingerprint;
    std::optional<std::uint32_t> diverged;  ///< operator; the state is then as it was before the step
};

class Executor {
public:
    struct Machine {
        const Kernels& kernels;
        const ProductKernels& products;
        ThreadPool& pool;
        Arena& arena;
    };

    /// `program` is copied; what `machine` names must outlive the executor. REQUIRES micro_batch >= 1: the
    /// most sequences worked on at a time. Throws std::bad_alloc.
    Executor(program::Program program, const Machine& machine, std::uint32_t micro_batch);

    /// One step of a step program over `tokens` (sequences of T+1 ids below the vocabulary, at least one).
    StepResult step(const arithmetic::AdamWCoefficients& coefficients, std::span<const std::uint32_t> tokens,
                    const StateSpans& state);

    /// Gives tokens of sequence i (T+1 of them) of an evaluation.
    using Sequences = std::function<void(std::uint64_t index, std::span<std::uint32_t> tokens)>;
    /// Mean loss of an evaluation program over `count` >= 1 sequences; nothing when it diverged.
    /// `stop` (may be empty) is asked between micro-batches and ends the work with nothing.
    std::optional<float> evaluate(std::span<const float> parameters, std::uint64_t count,
                                  const Sequences& sequences, const std::function<bool()>& stop);

    /// Logits after place `row` of one sequence of T tokens, by an evaluation program; nothing when it
    /// diverged. Valid until the next call.
    std::optional<std::span<const float>> logits(std::span<const float> parameters,
                                                 std::span<const std::uint32_t> inputs, std::uint64_t row);

    [[nodiscard]] const program::Program& program() const { return program_; }
    /// The flat gradient of the last step, before clipping.
    [[nodiscard]] std::span<const float> gradient() const { return {gradient_, parameter_count_}; }

private:
    using Operator = program::Operator;

    void load_tokens(std::span<const std::uint32_t> tokens);
    void place_tensors();
    void clear_accumulators();
    void bind_state(const StateSpans& state);
    // Runs operators [first, last) on the loaded micro-batch; the first that diverges.
    std::optional<std::uint32_t> run(std::size_t first, std::size_t last);
    void execute(const Operator& one);
    void forward(const Operator& one);
    void loss(const Operator& one);
    void backward(const Operator& one);
    void attention(const Operator& one);
    bool attention_head(const Operator& one, std::uint64_t sequence, std::uint64_t head);
    void update(const Operator& one);
    void global_norm(const Operator& one);
    void product(const Product& product);
    [[nodiscard]] bool finite(const Operator& one);
    [[nodiscard]] bool finite_attention(const Operator& one, std::uint64_t sequence,
                                        std::uint64_t head) const;

    [[nodiscard]] float* data(program::TensorId id) const { return tensors_[id]; }
    [[nodiscard]] float* in(const Operator& one, std::size_t i) const { return tensors_[one.operands[i]]; }
    [[nodiscard]] float* out(const Operator& one, std::size_t i) const { return tensors_[one.outputs[i]]; }
    [[nodiscard]] std::uint64_t cols(program::TensorId id) const { return program_.tensors[id].cols; }
    [[nodiscard]] std::uint64_t size(program::TensorId id) const;
    [[nodiscard]] std::uint64_t rows() const { return sequences_ * context_; }

    program::Program program_;
    const Kernels& kernels_;
    const ProductKernels& products_;
    ThreadPool& pool_;
    std::uint64_t micro_batch_;
    std::uint64_t context_;
    std::uint64_t width_;
    std::uint64_t vocabulary_;
    std::uint64_t heads_;
    std::uint64_t parameter_count_ = 0;
    std::size_t once_ = 0;  // first operator that runs once per step, after all micro-batches
    std::vector<float*> tensors_;
    float* gradient_ = nullptr;      // flat, canonical order
    float* accumulators_ = nullptr;  // the two of the tied gradient
    std::uint64_t accumulator_size_ = 0;
    float* backup_ = nullptr;  // parameters and moments before AdamW
    std::vector<float> tile_sums_;
    program::TensorId logits_ = 0;
    std::size_t head_operator_ = 0;

    // Of the micro-batch at hand.
    std::uint64_t sequences_ = 0;
    std::vector<std::uint32_t> inputs_;
    std::vector<std::uint32_t> targets_;
    // Of the step at hand.
    std::uint64_t step_tokens_ = 0;
    float loss_total_ = 0;
    arithmetic::AdamWCoefficients coefficients_;
};

}  // namespace assay::trainer
