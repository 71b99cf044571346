// SPDX-License-Identifier: Apache-2.0
// The memory and the dispatch of the reference interpreter (reference_step.hpp): every tensor of a program
// held in full, every operator run by its function in contracts/arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/optimizer.hpp"
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
    void update(const Operator& one, const arithmetic::AdamWCoefficients& coefficients);
    void layer_norm_parameters(const Operator& one);
    void global_norm(const Operator& one);

    // Operand and output by place.
    [[nodiscard]] std::span<float> in(const Operator& one, std::size_t i) { return values(one.operands[i]); }
    [[nodiscard]] std::span<float> out(const Operator& one, std::size_t i) { return values(one.outputs[i]); }
    // The part of a per-sequence tensor that belongs to one sequence.
    [[nodiscard]] std::span<float> part(std::span<float> values, std::uint64_t sequence) const;
    [[nodiscard]] std::uint64_t cols(TensorId id) const { return program_.tensors[id].cols; }

    const Program& program_;
    std::uint64_t sequences_;
    std::uint64_t context_;
    std::vector<std::uint32_t> inputs_;   // T per sequence
    std::vector<std::uint32_t> targets_;  // T per sequence
    std::vector<std::vector<float>> tensors_;
};

}  // namespace assay::program
