// SPDX-License-Identifier: Apache-2.0
// Executor runs a program of contracts/program on a device by an allocation plan: steps and evaluations for
// the job runner, and single operators for a dispute. No bit depends on micro-batches, rematerialisation,
// threads or the device. It takes all memory when it is made; a step after the first allocates nothing.
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

    /// Results have the bits of the law if Device::check() succeeds before the call and after it.

    /// Runs one step of a step program in place on the state's arrays. `tokens` are sequences of T+1 ids
    /// below the vocabulary, at least one sequence and at most the plan's batch.
    StepResult step(const arithmetic::AdamWCoefficients& coefficients, std::span<const std::uint32_t> tokens,
                    const DeviceState& state);

    /// Called when the operator has run on sequences [first, first + count) of the step.
    using Look = std::function<void(std::uint64_t first, std::uint64_t count)>;
    /// Runs a step up to and including operator `index`, and calls `look` whenever that operator has run:
    /// once per micro-batch, or once with all sequences if it runs once per step. In `look`, read() gives its
    /// outputs; gradients of parameters are sums over the sequences so far. Returns the first operator, up to
    /// `index`, that wrote a number that is not finite. The state changes in place; afterwards it is not the
    /// state of any slot. REQUIRES a plan with Grouping::kSingle.
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
    /// Runs operators 0 … `last` of a step one by one and calls `each` after every one. In `each`, read()
    /// gives its outputs: the rows of those sequences for tensors with rows per sequence, the sums so far for
    /// gradients of parameters (complete after the last sequence). The update runs even after a number that
    /// is not finite. The state changes in place. REQUIRES a plan with Grouping::kOperators.
    void run_each(std::uint32_t last, const arithmetic::AdamWCoefficients& coefficients,
                  std::span<const std::uint32_t> tokens, const DeviceState& state, const Each& each);

    /// Copies a tensor as the last run left it: of a tensor with rows per sequence, the rows of the last
    /// micro-batch. REQUIRES a tensor of numbers, and a plan with Grouping::kSingle or a call from `each`.
    void read(program::TensorId id, std::span<float> out) const;
    /// The same for `out.size()` numbers from place `from` on.
    void read_part(program::TensorId id, std::uint64_t from, std::span<float> out) const;
    /// Changes a number of a tensor. REQUIRES a call from `each`, and for a gradient of a parameter that some
    /// operator has added to it: in a step of one micro-batch it has no memory before.
    void write(program::TensorId id, std::uint64_t at, float value);

    /// Fills in the T+1 tokens of sequence `index` of an evaluation.
    using Sequences = std::function<void(std::uint64_t index, std::span<std::uint32_t> tokens)>;
    /// Mean loss of an evaluation program over `count` >= 1 sequences; nothing when it diverged. `parameters`
    /// is an address of the device. REQUIRES finite parameters. `stop` (may be empty) is asked between
    /// micro-batches; once it returns true, evaluate() ends and returns nothing.
    std::optional<float> evaluate(const float* parameters, std::uint64_t count, const Sequences& sequences,
                                  const std::function<bool()>& stop);

    /// Logits that an evaluation program gives for the token after place `row` of one sequence of T tokens;
    /// nothing when it diverged. Valid until the next call. `parameters` as for evaluate().
    std::optional<std::span<const float>> logits(const float* parameters,
                                                 std::span<const std::uint32_t> inputs, std::uint64_t row);

    [[nodiscard]] const program::Program& program() const { return program_; }
    [[nodiscard]] const AllocationPlan& plan() const { return plan_; }
    /// Copies the gradients of all parameters, in canonical order, as the last step left them before
    /// clipping.
    void gradient(std::span<float> out) const;

private:
    [[nodiscard]] bool is_single() const { return plan_.choice.grouping == Grouping::kSingle; }
    // Writes zeros into each square whose lifetime begins at an operator: operators write only one half of it
    // and read the other as +0.
    void clear_squares(const PlannedGroup& planned);
    void place_gradients();
    // Lists the parts of the gradient that have to be zero when a step begins.
    void list_cleared();
    // Sets the addresses of the tensors of `role`, one for each parameter, in a flat array.
    void place(program::TensorRole role, float* flat);
    // Begins a step; returns its sequences.
    std::uint64_t begin_step(const arithmetic::AdamWCoefficients& coefficients,
                             std::span<const std::uint32_t> tokens, const DeviceState& state);
    void begin_evaluation(const float* parameters, std::uint64_t tokens);
    // Sets the addresses of the tensors whose lifetime begins at a group.
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
    float* gradient_ = nullptr;                              // gradients that live throughout a step
    float* embedding_rows_ = nullptr;                        // of a tied matrix
    std::vector<std::pair<float*, std::uint64_t>> cleared_;  // parts of the gradient
    std::vector<float*> tensors_;
    std::optional<Group> logits_group_;  // of an evaluation
    std::vector<std::uint32_t> tokens_;
    std::vector<float> logits_;
};

}  // namespace assay::trainer
