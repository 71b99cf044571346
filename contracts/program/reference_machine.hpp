// SPDX-License-Identifier: Apache-2.0
// The memory and the dispatch of the reference interpreter (reference_step.hpp): every tensor of a program
// held in full, every operator run by its function in contracts/arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/product.hpp"
#include "contracts/program/program.hpp"

namespace assay::program {

class ReferenceMachine {
public:
    /// All tensors +0. `tokens` is whole sequences of T+1 ids below the vocabulary. `program` must outlive
    /// the machine.
    ReferenceMachine(const Program& program, std::span<const std::uint32_t> tokens);

    /// Runs one operator over all sequences. `coefficients.decay` is taken for tensors that decay, 0 for the
    /// others. REQUIRES that the operators before it ran.
    void execute(const Operator& one, const arithmetic::AdamWCoefficients& coefficients);

    [[nodiscard]] std::span<float> values(TensorId id) { return tensors_[id]; }

private:
    void forward(const Operator& one);
    void loss(const Operator& one);
    void backward(const Operator& one);
    void attention_forward(const Operator& one);
    void attention_backward(const Operator& one);
    void rope(const Operator& one);
    void update(const Operator& one, const arithmetic::AdamWCoefficients& coefficients);
    void norm_parameters(const Operator& one);
    void global_norm(const Operator& one);

    // The three forms of a product, by the profile: a·b, a·bᵀ, and aᵀ·b going on from what c holds.
    enum class Form { kPlain, kTransposedB, kTransposedA };
    void product(const Operator& one, Form form, arithmetic::ProductShape shape, std::span<const float> a,
                 std::span<const float> b, std::span<float> c) const;

    // Operand and output by place.
    [[nodiscard]] std::span<float> in(const Operator& one, std::size_t i) { return values(one.operands[i]); }
    [[nodiscard]] std::span<float> out(const Operator& one, std::size_t i) { return values(one.outputs[i]); }
    // The part of a per-sequence tensor that belongs to one sequence.
    [[nodiscard]] std::span<float> part(std::span<float> values, std::uint64_t sequence) const;
    [[nodiscard]] std::uint64_t cols(TensorId id) const { return program_.tensors[id].cols; }
    [[nodiscard]] bool exact() const { return program_.profile == Profile::kI16; }
    // Columns of a row of qkv at which the queries, keys and values of query head h begin.
    struct HeadColumns {
        std::uint64_t query = 0, key = 0, value = 0;
    };
    [[nodiscard]] HeadColumns head_columns(std::uint64_t head) const;
    [[nodiscard]] arithmetic::HeadShape head_shape() const { return {context_, program_.model.head_dim()}; }
    // The part of a tensor of head matrices or head columns that belongs to one head of one sequence.
    [[nodiscard]] std::span<float> head_part(std::span<float> values, std::uint64_t sequence,
                                             std::uint64_t head) const;
    // A head's numbers in the rows of one sequence.
    [[nodiscard]] arithmetic::HeadView view(TensorId id, std::uint64_t sequence, std::uint64_t column);
    [[nodiscard]] arithmetic::HeadOut target(TensorId id, std::uint64_t sequence, std::uint64_t column);

    const Program& program_;
    std::uint64_t sequences_;
    std::uint64_t context_;
    std::vector<std::uint32_t> inputs_;   // T per sequence
    std::vector<std::uint32_t> targets_;  // T per sequence
    std::vector<std::vector<float>> tensors_;
    std::vector<float> rope_cos_;  // [T, d/2], of models with rotary positions
    std::vector<float> rope_sin_;
};

}  // namespace assay::program
