// SPDX-License-Identifier: Apache-2.0
// The program of a step: the ordered list of operators that turns (parameters, moments, tokens) into new
// parameters and moments. It is the only truth about what a step is: the trainer executes it, the market
// counts its operations, a dispute descends into it. Program order is the order of this list; the index of an
// operator in it names where a slot diverged. Operators may be fused, split or reordered by whoever executes
// them as long as every bit stays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::program {

using TensorId = std::uint32_t;

/// Rows of a tensor as a function of the batch: fixed + per_sequence · sequences.
struct Extent {
    std::uint64_t fixed = 0;
    std::uint64_t per_sequence = 0;
    [[nodiscard]] std::uint64_t of(std::uint64_t sequences) const { return fixed + per_sequence * sequences; }
    friend bool operator==(const Extent&, const Extent&) = default;
};

enum class Role : std::uint8_t {
    kParameter = 1,      ///< canonical order: tensor id = place in parameter_tensors()
    kFirstMoment,        ///< in the same order
    kSecondMoment,       ///< in the same order
    kParameterGradient,  ///< accumulates over the step, starts at +0
    kTokens,             ///< u32 inputs [T], targets [T] per sequence
    kActivation,
    kGradient,  ///< of an activation
    kScalar,    ///< loss, norm, clip
};

struct Tensor {
    std::string name;
    Role role = Role::kActivation;
    Extent rows;
    std::uint64_t cols = 0;
};

/// What an operator does: its function in contracts/arithmetic, then operands → outputs.
/// T tokens, W width, V vocabulary; per-head operators run for every sequence and query head, ascending.
/// A row of qkv is queries, keys, values: query head h at column h·d, of H heads; its keys at (H+g)·d and its
/// values at (H+K+g)·d, where K is the number of key heads and g = h / (H/K); d numbers each.
/// Products are those of the program's profile: chains of product.hpp and attention.hpp, or exact_product.hpp
/// and exact_attention.hpp by the operator's rule.
enum class OperatorKind : std::uint8_t {
    // forward
    kEmbedding = 1,    ///< embedding_forward: inputs, wte[, wpe] → x
    kLayerNorm,        ///< layer_norm_forward: x, gain, bias → y, mean, rstd
    kRmsNorm,          ///< rms_norm_forward: x, gain → y, rstd
    kLinear,           ///< product, add_bias: x, weight[, bias] → y
    kRope,             ///< rope_forward: qkv → qkv (in place, queries and keys)
    kAttentionScores,  ///< attention_scores: qkv → scores
    kSoftmaxMax,       ///< softmax_max: scores → max
    kSoftmaxExp,       ///< softmax_exp: scores, max → e
    kSoftmaxSum,       ///< softmax_sum: e → sum
    kSoftmaxDivide,    ///< softmax_divide: e, sum → p
    kAttentionValues,  ///< attention_values: p, qkv → o
    kGelu,             ///< gelu_forward: x → y
    kSwiGlu,           ///< swiglu_forward: gate and up (halves of a row) → y
    kAdd,              ///< add: a, b → y
    kHead,             ///< product_nt: h, wte → logits
    kLossMax,          ///< loss_max: logits → max
    kLossExp,          ///< loss_exp: logits, max → e
    kLossSum,          ///< loss_sum: e → sum
    kLossTokens,       ///< loss_tokens: logits, max, sum, targets → token losses
    kLossTotal,        ///< loss_total_carry, then · reciprocal(N): token losses → loss
    // backward
    kLossGradient,                  ///< loss_gradient: e, sum, targets → dlogits
    kHeadInputGradient,             ///< product_nn: dlogits, wte → dh
    kHeadWeightGradient,            ///< product_tn_carry: dlogits, h → dwte (head's accumulator) [V,W]
    kLayerNormInputGradient,        ///< dy, x, mean, rstd, gain → dx
    kLayerNormParameterGradient,    ///< dy, x, mean, rstd → dgain, dbias
    kRmsNormInputGradient,          ///< dy, x, rstd, gain → dx
    kRmsNormParameterGradient,      ///< dy, x, rstd → dgain
    kLinearInputGradient,           ///< product: dy, weight → dx
    kLinearWeightGradient,          ///< product, carried: x, dy → dweight
    kLinearBiasGradient,            ///< bias_gradient_carry: dy → dbias
    kGeluGradient,                  ///< gelu_backward: x, dy → dx
    kSwiGluGradient,                ///< swiglu_backward: gate and up, dy → their gradients
    kRopeGradient,                  ///< rope_backward: dqkv → dqkv (in place, queries and keys)
    kAttentionValueGradient,        ///< attention_value_gradient: p, do → dv (values' columns of dqkv)
    kAttentionProbabilityGradient,  ///< attention_probability_gradient: do, qkv → dp
    kSoftmaxDot,                    ///< softmax_dot: dp, p → dot
    kSoftmaxGradient,               ///< softmax_gradient: dp, p, dot → ds
    kAttentionQueryGradient,        ///< attention_query_gradient: ds, qkv → dq (queries' columns of dqkv)
    kAttentionKeyGradient,          ///< attention_key_gradient: ds, qkv → dk (keys' columns of dqkv)
    kEmbeddingGradient,             ///< embedding_gradient_carry: inputs, dx → dwte[, dwpe]
    // once per step
    kTiedGradient,  ///< add: gradient by the head, gradient by the embedding → gradient of the tied matrix
    kGlobalNorm,    ///< square_tiles, norm_of_tiles: every parameter gradient in canonical order → norm
    kClip,          ///< clip_scale: norm → clip
    kAdamW,         ///< adamw: gradient, clip, parameter, m, v → parameter, m, v (in place)
};
std::string_view to_text(OperatorKind kind);

/// Floating-point operations as a function of the batch: fixed + per_sequence · sequences. A multiply, an
/// add, a divide, a square root and a comparison count 1, fma 2, exp, tanh and log 20.
using Operations = Extent;

/// How the weight of a linear layer lies: GPT-2's [in,out] or Llama's [out,in].
enum class WeightLayout : std::uint8_t { kInOut = 1, kOutIn = 2 };

struct Operator {
    OperatorKind kind = OperatorKind::kEmbedding;
    std::string name;         ///< "h.3.attn.scores.forward"
    std::int32_t layer = -1;  ///< -1 outside the layers
    std::vector<TensorId> operands;
    std::vector<TensorId> outputs;
    Operations operations;
    /// Of products: digits of both operands and length of a block of k. Profile f32 does not look at it.
    arithmetic::ProductRule rule;
    WeightLayout layout = WeightLayout::kInOut;  ///< of linear layers and their gradients
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

/// Forward, backward, AdamW. REQUIRES configs that check_spec accepts.
Program build_step_program(const ModelConfig& model, const TrainConfig& train, Profile profile);

/// Forward and mean loss only.
Program build_evaluate_program(const ModelConfig& model, Profile profile);

/// Floating-point operations of one run over `sequences` sequences.
std::uint64_t operations(const Program& program, std::uint64_t sequences);

/// Work units of one slot and round: ceil(inner_steps · operations of a step / 10^9).
std::uint64_t work_units(const JobSpec& spec);
/// Of `steps` inner steps (what an audit of a segment recomputes), rounded up.
std::uint64_t work_units(const JobSpec& spec, std::uint32_t steps);

/// A table for people: one line per operator (index, name, kind, operands → outputs with shapes, operations).
std::string dump(const Program& program, std::uint64_t sequences);

}  // namespace assay::program
