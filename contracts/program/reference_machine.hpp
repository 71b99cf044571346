// SPDX-License-Identifier: Apache-2.0
// Memory and dispatch of the reference interpreter (reference_step.hpp). It holds every tensor of a program
// in full, and runs every operator by its function in contracts/arithmetic. Each kind of operator has one
// line in one of the lists of definitions (reference_rows.cpp and its neighbours).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "contracts/program/program.hpp"

namespace assay::program {

/// Where a micro-batch stands in its step.
struct StepPart {
    std::uint64_t targets = 0;  ///< of the whole step, over which its means are taken
    float loss_before = 0;      ///< sum of the losses of the sequences before it
};

class ReferenceMachine {
public:
    /// Sets all tensors to +0. `tokens` is whole sequences of T+1 ids below the vocabulary: those of a step,
    /// or with `part` those of a micro-batch. `program` must outlive the machine.
    ReferenceMachine(const Program& program, std::span<const std::uint32_t> tokens);
    ReferenceMachine(const Program& program, std::span<const std::uint32_t> tokens, const StepPart& part);

    /// Runs one operator over all sequences. `coefficients.decay` is taken for tensors that decay, 0 for the
    /// others. REQUIRES that the operators before it ran.
    void execute(const Operator& one, const arithmetic::AdamWCoefficients& coefficients);

    [[nodiscard]] std::span<float> values(TensorId id) { return tensors_[id]; }
    /// The sum of the losses of the sequences so far. It changes when the operator that sums them runs.
    [[nodiscard]] float loss_so_far() const { return loss_so_far_; }

    /// How many lines define operators of `kind`; must be one.
    static std::size_t definitions_of(OperatorKind kind);

private:
    using Machine = ReferenceMachine;
    // One line: runs an operator of the kind.
    struct Definition {
        OperatorKind kind;
        void (*run)(Machine& m, const Operator& one);
    };
    using Definitions = std::span<const Definition>;
    static Definitions row_definitions();        // embedding, norms, activations, sums, rotations
    static Definitions product_definitions();    // linear layers and the head
    static Definitions attention_definitions();  // a query head of a sequence at a time
    static Definitions loss_definitions();
    static Definitions update_definitions();  // once per step
    static const Definition* find(Definitions definitions, OperatorKind kind);

    // The three forms of a product, in the program's profile: a·b, a·bᵀ, and aᵀ·b added to what c holds.
    enum class Form { kPlain, kTransposedB, kTransposedA };
    void product(const Operator& one, Form form, arithmetic::ProductShape shape, std::span<const float> a,
                 std::span<const float> b, std::span<float> c) const;

    // Operand and output by place.
    [[nodiscard]] std::span<float> in(const Operator& one, std::size_t i) { return values(one.operands[i]); }
    [[nodiscard]] std::span<float> out(const Operator& one, std::size_t i) { return values(one.outputs[i]); }
    // The part of a per-sequence tensor that belongs to one sequence.
    [[nodiscard]] std::span<float> part(std::span<float> values, std::uint64_t sequence) const;
    [[nodiscard]] std::span<const std::uint32_t> inputs_of(std::uint64_t sequence) const;
    [[nodiscard]] std::uint64_t cols(TensorId id) const { return program_.tensors[id].cols; }
    [[nodiscard]] std::uint64_t rows() const { return sequences_ * context_; }
    [[nodiscard]] const ModelConfig& model() const { return program_.model; }
    [[nodiscard]] bool exact() const { return program_.profile == Profile::kI16; }
    [[nodiscard]] arithmetic::RopeShape rope_shape() const;
    [[nodiscard]] arithmetic::RopeTableView rope_angles() const { return {rope_cos_, rope_sin_}; }

    // A query head of a sequence, with the columns of a row of qkv at which its queries, keys and values
    // begin.
    struct HeadPlace {
        std::uint64_t sequence = 0, head = 0;
        std::uint64_t query = 0, key = 0, value = 0;
        // Query heads that share keys and values add to one gradient, in order.
        arithmetic::ChainStart start = arithmetic::ChainStart::kZero;
    };
    [[nodiscard]] HeadPlace head_place(std::uint64_t sequence, std::uint64_t head) const;
    [[nodiscard]] arithmetic::HeadShape head_shape() const { return {context_, program_.model.head_dim()}; }
    // Calls work(place) for every query head of every sequence, ascending.
    template <class Work>
    void each_head(const Work& work) const;
    // The part of a tensor of head matrices or head columns that belongs to one head of one sequence.
    [[nodiscard]] std::span<float> head_part(std::span<float> values, const HeadPlace& at) const;
    // A head's numbers in the rows of one sequence.
    [[nodiscard]] arithmetic::HeadView view(TensorId id, const HeadPlace& at, std::uint64_t column);
    [[nodiscard]] arithmetic::HeadOut target(TensorId id, const HeadPlace& at, std::uint64_t column);

    const Program& program_;
    std::uint64_t sequences_;
    std::uint64_t context_;
    StepPart part_;
    float loss_so_far_ = 0;
    std::vector<std::uint32_t> inputs_;   // T per sequence
    std::vector<std::uint32_t> targets_;  // T per sequence
    std::vector<std::vector<float>> tensors_;
    std::vector<float> rope_cos_;  // [T, d/2], of models with rotary positions
    std::vector<float> rope_sin_;
    arithmetic::AdamWCoefficients coefficients_;  // of the operator that runs
};

}  // namespace assay::program
