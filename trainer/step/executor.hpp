// SPDX-License-Identifier: Apache-2.0
// Gives the job runner Executor, which runs a program of contracts/program on a device, by an allocation
// plan: steps and evaluations, and single operators for a dispute. Micro-batches, rematerialisation, threads
// and the device leave every bit alone. It takes all memory when it is made; a step after the first allocates
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/trace.hpp"
#include "trainer/step/adopted.hpp"
#include "trainer/step/allocation_plan.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

struct StepResult {
    program::Fingerprint fingerprint;
    std::optional<std::uint32_t> diverged;  ///< operator; the state is then as it was before the step
};

class Executor {
public:
    /// `program` is copied; `device` must outlive the executor. `plan` is one of plan_allocation() for the
    /// same program and device. Throws std::bad_alloc.
    Executor(program::Program program, Device& device, AllocationPlan plan);
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    /// Gives the memory back to the device.
    ~Executor();

    /// Results have the bits of the law where Device::check() finds nothing before the call and after it.

    /// One step of a step program over `tokens` (sequences of T+1 ids below the vocabulary, at least one and
    /// at most the plan's batch), on the state's arrays in place.
    StepResult step(const arithmetic::AdamWCoefficients& coefficients, std::span<const std::uint32_t> tokens,
                    const DeviceState& state);

    /// Told that the operator has run on sequences [first, first + count) of the step.
    using Look = std::function<void(std::uint64_t first, std::uint64_t count)>;
    /// Runs a step up to operator `index`, that one included, and calls `look` whenever it has run: once per
    /// micro-batch, or once with all sequences where it runs once a step. There read() gives its outputs;
    /// gradients of parameters are sums over the sequences so far. Returns the first operator, up to `index`,
    /// of which a number was not finite. The state is worked on in place and is no slot's afterwards.
    /// REQUIRES a plan with Grouping::kSingle.
    std::optional<std::uint32_t> run_until(std::uint32_t index,
                                           const arithmetic::AdamWCoefficients& coefficients,
                                           std::span<const std::uint32_t> tokens, const DeviceState& state,
                                           const Look& look);

    /// An operator has run on sequences [first, first + count) of the step.
    struct Ran {
        std::uint32_t index = 0;
        std::uint64_t first = 0;
        std::uint64_t count = 0;
        bool again = false;  ///< for the second time, with the same numbers (rematerialised)
    };
    using Each = std::function<void(const Ran&)>;
    /// Runs operators 0 … `last` of a step one by one and calls `each` after every one, when read() gives
    /// its outputs: of tensors with rows per sequence those sequences, of gradients of parameters sums so
    /// far, of which those of the last sequence are whole. Nothing holds back an update after a number that
    /// was not finite. The state is worked on in place. REQUIRES a plan with Grouping::kOperators.
    void run_each(std::uint32_t last, const arithmetic::AdamWCoefficients& coefficients,
                  std::span<const std::uint32_t> tokens, const DeviceState& state, const Each& each);

    /// Copies a tensor as the last run left it; of one with rows per sequence, those of the last micro-batch.
    /// REQUIRES a plan with Grouping::kSingle, or a call from `each`; and a tensor of numbers.
    void read(program::TensorId id, std::span<float> out) const;
    /// The same of the numbers from place `from` on.
    void read_part(program::TensorId id, std::uint64_t from, std::span<float> out) const;
    /// Changes a number of a tensor. REQUIRES a call from `each`. A device may write over what a gradient of
    /// weights holds before its first term (PlanHints::starts_weight_gradients).
    void write(program::TensorId id, std::uint64_t at, float value);

    /// Gives tokens of sequence i (T+1 of them) of an evaluation.
    using Sequences = std::function<void(std::uint64_t index, std::span<std::uint32_t> tokens)>;
    /// Mean loss of an evaluation program over `count` >= 1 sequences; nothing when it diverged. `parameters`
    /// is an address of the device. REQUIRES finite parameters. `stop` (may be empty) is asked between
    /// micro-batches and ends the work with nothing.
    std::optional<float> evaluate(const float* parameters, std::uint64_t count, const Sequences& sequences,
                                  const std::function<bool()>& stop);

    /// Logits after place `row` of one sequence of T tokens, by an evaluation program; nothing when it
    /// diverged. Valid until the next call. `parameters` as for evaluate().
    std::optional<std::span<const float>> logits(const float* parameters,
                                                 std::span<const std::uint32_t> inputs, std::uint64_t row);

    [[nodiscard]] const program::Program& program() const { return program_; }
    [[nodiscard]] const AllocationPlan& plan() const { return plan_; }
    /// Copies the gradients of all parameters, in canonical order, as the last step left them before
    /// clipping.
    void gradient(std::span<float> out) const;

private:
    [[nodiscard]] bool is_single() const { return plan_.choice.grouping == Grouping::kSingle; }
    // Zeros where a square begins to live at an operator: of squares only one half is ever written, and what
    // is read of the other is +0.
    void clear_squares(const PlannedGroup& planned);
    void place_gradients();
    // What of the gradient has to be zero when a step begins.
    void list_cleared();
    // Names the tensors of `role`, one for each parameter, by where a flat array lies.
    void place(program::TensorRole role, float* flat);
    // Begins a step; returns its sequences.
    std::uint64_t begin_step(const arithmetic::AdamWCoefficients& coefficients,
                             std::span<const std::uint32_t> tokens, const DeviceState& state);
    void begin_evaluation(const float* parameters, std::uint64_t tokens);
    // Names the tensors that begin to live at a group by where they lie.
    void place_new(const PlannedGroup& planned);
    // Runs group `i` for run_each(); true when it was operator `last`.
    bool run_one(std::size_t i, std::uint32_t last, const Ran& where, const Each& each);
    // Runs groups [first, last) of the plan on the selected micro-batch.
    void run(std::size_t first, std::size_t last);

    program::Program program_;
    Device& device_;
    AllocationPlan plan_;
    std::uint64_t context_;
    float* block_ = nullptr;
    float* gradient_ = nullptr;                              // those of the plan that live throughout a step
    float* embedding_rows_ = nullptr;                        // of a tied matrix
    std::vector<std::pair<float*, std::uint64_t>> cleared_;  // parts of the gradient
    std::vector<float*> tensors_;
    std::optional<Group> logits_group_;  // of an evaluation
    std::vector<std::uint32_t> tokens_;
    std::vector<float> logits_;
};

}  // namespace assay::trainer
