// SPDX-License-Identifier: Apache-2.0
// The program of a step is the ordered list of operators that turns (parameters, moments, tokens) into new
// parameters and moments. It alone defines a step: the trainer executes it, the market counts its FLOPs, and
// a dispute descends into it. Program order is the order of this list; the index of an operator in it names
// where a slot diverged. Properties that all operators of a kind share are in the operator table; the models
// from which programs are built are in models/. An executor may fuse, split or reorder operators as long as
// no bit changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/operator_table.hpp"
#include "contracts/program/program_tensor.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::program {

/// The layout of a linear layer's weight: GPT-2's [in,out] or Llama's [out,in].
enum class WeightLayout : std::uint8_t { kInOut = 1, kOutIn = 2 };

struct Operator {
    OperatorKind kind = OperatorKind::kEmbedding;
    std::string name;         ///< "h.3.attn.scores.forward"
    std::int32_t layer = -1;  ///< -1 outside the layers
    std::vector<TensorId> operands;
    std::vector<TensorId> outputs;
    Flops flops;  ///< by the formula of its row
    /// For products: digits of both operands and the length of a block of k. Profile f32 ignores it.
    arithmetic::ProductRule rule;
    WeightLayout layout = WeightLayout::kInOut;  ///< of linear layers and their gradients

    /// The properties of every operator of its kind.
    [[nodiscard]] const OperatorRow& row() const { return row_of(kind); }
};

struct Program {
    ModelConfig model;
    Profile profile = Profile::kF32;
    float clip_norm = 0;  ///< limit of kClip
    std::vector<TensorInfo> parameters;
    std::vector<Tensor> tensors;
    std::vector<Operator> operators;
    TensorId loss = 0;  ///< the scalar that kLossTotal writes
    TensorId norm = 0;  ///< the scalar that kGlobalNorm writes; unused in an evaluation
};

/// The program of forward pass, backward pass and AdamW. REQUIRES configs that check_spec accepts.
Program build_step_program(const ModelConfig& model, const TrainConfig& train, Profile profile);

/// The program of the forward pass and the mean loss only.
Program build_evaluate_program(const ModelConfig& model, Profile profile);

/// FLOPs of one run over `sequences` sequences.
std::uint64_t flops(const Program& program, std::uint64_t sequences);

/// Work units of one slot and round: ceil(inner_steps · FLOPs of a step / 10^9).
std::uint64_t work_units(const JobSpec& spec);
/// Work units of `steps` inner steps (what an audit of a segment recomputes), rounded up.
std::uint64_t work_units(const JobSpec& spec, std::uint32_t steps);

/// A table for people: one line per operator (index, name, kind, operands → outputs with shapes, FLOPs).
std::string dump(const Program& program, std::uint64_t sequences);

}  // namespace assay::program
