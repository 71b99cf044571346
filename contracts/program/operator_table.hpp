// SPDX-License-Identifier: Apache-2.0
// The operator table has one row for each kind of operator, with all properties that every operator of the
// kind has. Code that builds, counts, orders, runs or prints a program reads the row; nothing may depend on
// the order of kinds. A new operator needs a row here, its function in contracts/arithmetic with a line in
// the reference machine (reference_machine.hpp), its kernels, and tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/program_tensor.hpp"

namespace assay::program {

/// Kinds of operators, each with its function in contracts/arithmetic. The numbers have no meaning. Products
/// are those of the program's profile: chains of product.hpp and attention.hpp, or exact_product.hpp and
/// exact_attention.hpp by the operator's rule. Operators of attention run for every sequence and query head,
/// ascending. A row of qkv is queries, keys, values: query head h at column h·d, of H heads; its keys at
/// (H+g)·d and its values at (H+K+g)·d, where K is the number of key heads and g = h / (H/K); d numbers each.
enum class OperatorKind : std::uint8_t {
    kEmbedding = 1,                 ///< embedding_forward
    kLayerNorm,                     ///< layer_norm_forward
    kRmsNorm,                       ///< rms_norm_forward
    kLinear,                        ///< product, add_bias
    kRope,                          ///< rope_forward, of queries and keys
    kAttentionScores,               ///< attention_scores
    kSoftmaxMax,                    ///< softmax_max
    kSoftmaxExp,                    ///< softmax_exp
    kSoftmaxSum,                    ///< softmax_sum
    kSoftmaxDivide,                 ///< softmax_divide
    kAttentionValues,               ///< attention_values
    kGelu,                          ///< gelu_forward
    kSwiGlu,                        ///< swiglu_forward; gate and up are halves of a row
    kAdd,                           ///< add
    kHead,                          ///< product
    kLossMax,                       ///< loss_max
    kLossExp,                       ///< loss_exp
    kLossSum,                       ///< loss_sum
    kLossTokens,                    ///< loss_tokens
    kLossTotal,                     ///< loss_total_carry, then · reciprocal(N)
    kLossGradient,                  ///< loss_gradient
    kHeadInputGradient,             ///< product
    kHeadWeightGradient,            ///< product, carried
    kLayerNormInputGradient,        ///< layer_norm_input_gradient
    kLayerNormParameterGradient,    ///< layer_norm_parameter_gradient_carry
    kRmsNormInputGradient,          ///< rms_norm_input_gradient
    kRmsNormParameterGradient,      ///< rms_norm_parameter_gradient_carry
    kLinearInputGradient,           ///< product
    kLinearWeightGradient,          ///< product, carried
    kLinearBiasGradient,            ///< bias_gradient_carry
    kGeluGradient,                  ///< gelu_backward
    kSwiGluGradient,                ///< swiglu_backward
    kRopeGradient,                  ///< rope_backward, of queries and keys
    kAttentionValueGradient,        ///< attention_value_gradient, into the values' columns
    kAttentionProbabilityGradient,  ///< attention_probability_gradient
    kSoftmaxDot,                    ///< softmax_dot
    kSoftmaxGradient,               ///< softmax_gradient
    kAttentionQueryGradient,        ///< attention_query_gradient, into the queries' columns
    kAttentionKeyGradient,          ///< attention_key_gradient, into the keys' columns
    kEmbeddingGradient,             ///< embedding_gradient_carry
    kTiedGradient,                  ///< add
    kGlobalNorm,                    ///< square_tiles, norm_of_tiles
    kClip,                          ///< clip_scale
    kAdamW,                         ///< adamw
};

/// When an operator runs.
enum class Phase : std::uint8_t {
    kForward = 1,  ///< for every micro-batch, on the way to the loss
    kBackward,     ///< for every micro-batch, on the way back
    kEitherWay,    ///< for every micro-batch, in the pass that made its operands
    kOncePerStep,  ///< after all micro-batches
};

/// Whether an operand or output is present.
enum class Presence : std::uint8_t {
    kAlways = 1,
    kMaybe,  ///< the model decides; must be the last in its list
    kMany,   ///< any number of them; must be the last in its list
};

/// What an operator does to an output.
enum class Write : std::uint8_t {
    kWhole = 1,   ///< writes every number of it; in attention's squares only those of keys that a query sees
    kInPlace,     ///< changes an operand; its numbers afterwards are a new version
    kColumns,     ///< writes some of its columns; other operators write the others
    kAccumulate,  ///< continues from what it holds: +0 at the step's start, then sequence after sequence
};

/// An operand by its place in the operator's list. The tensor there has `role` or `other`.
struct Operand {
    std::string_view name;
    TensorRole role = TensorRole::kActivation;
    TensorRole other = role;
    Presence presence = Presence::kAlways;
};

/// An output by its place in the operator's list.
struct Output {
    std::string_view name;
    TensorRole role = TensorRole::kActivation;
    TensorRole other = role;
    Presence presence = Presence::kAlways;
    Write write = Write::kWhole;
};

/// Up to `most` items in a fixed order.
template <class Item, std::size_t most>
class ShortList {
public:
    constexpr ShortList(std::initializer_list<Item> items) {
        for (const Item& item : items) items_[size_++] = item;
    }
    [[nodiscard]] constexpr const Item* begin() const { return items_.data(); }
    [[nodiscard]] constexpr const Item* end() const { return items_.data() + size_; }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr const Item& operator[](std::size_t i) const { return items_[i]; }

private:
    std::array<Item, most> items_{};
    std::size_t size_ = 0;
};

/// Which numbers of the operands a number of an output depends on. Ascending.
enum class Reach : std::uint8_t {
    kElement = 1,  ///< those at its own place, and scalars
    kRow,          ///< those of its own row (its token, or its query of a head), and parameters
    kSequence,     ///< those of its own sequence, and parameters
    kStep,         ///< any
};

/// The dimension along which the terms of an output's number are added one after another. A prefix of the
/// terms has a value of its own, at which a dispute can cut a long sum. The first four are products: in
/// profile i16 a term is a block of the operator's rule, and the sum inside a block is exact.
enum class SumChain : std::uint8_t {
    kFeatures = 1,  ///< columns of the first operand: features, words, numbers of a head
    kKeys,          ///< keys of a query's sequence up to its own place
    kQueries,       ///< queries of a key's sequence from its own place, for query head after query head
    kTokens,        ///< tokens of all sequences of the step
    kSequences,     ///< tokens of a sequence from +0; these sums for sequence after sequence
    kLanes,         ///< columns of a row in 32 lanes, and a tree over the lanes
    kTiles,         ///< numbers of a tile; a tree over the tiles of all operands
    kNone,          ///< nothing, or two or three terms
};

/// How a dispute over an operator continues inside it. Every output is cut into tiles of 16×16 numbers, row
/// by row. `reach` says what has to be opened to recompute a tile, `chain` how a tile that needs too much is
/// cut again.
struct Cut {
    Reach reach = Reach::kElement;
    SumChain chain = SumChain::kNone;
};

/// FLOPs as a function of the batch. A multiply, an add, a divide, a square root and a
/// comparison count 1, fma 2, exp, tanh and log 20.
using Flops = Extent;

/// Shapes of one operator in its program, for the formulas of the table. It refers to its arguments, which
/// must outlive it.
class Shapes {
public:
    Shapes(const ModelConfig& model, std::span<const Tensor> tensors, std::span<const TensorId> operands,
           std::span<const TensorId> outputs)
        : model_(model), tensors_(tensors), operands_(operands), outputs_(outputs) {}

    [[nodiscard]] std::uint64_t tokens() const { return model_.context; }  ///< of a sequence
    [[nodiscard]] std::size_t operands() const { return operands_.size(); }
    [[nodiscard]] std::size_t outputs() const { return outputs_.size(); }
    /// Numbers in a row of operand or output i.
    [[nodiscard]] std::uint64_t in(std::size_t i) const { return tensors_[operands_[i]].cols; }
    [[nodiscard]] std::uint64_t out(std::size_t i) const { return tensors_[outputs_[i]].cols; }
    /// All numbers of operand or output i. REQUIRES that its rows do not depend on the batch.
    [[nodiscard]] std::uint64_t in_numbers(std::size_t i) const { return numbers(operands_[i]); }
    [[nodiscard]] std::uint64_t out_numbers(std::size_t i) const { return numbers(outputs_[i]); }
    [[nodiscard]] std::uint64_t head_dim() const { return model_.head_dim(); }
    /// Numbers in the queries and keys of a row of qkv.
    [[nodiscard]] std::uint64_t query_key_width() const {
        return std::uint64_t{model_.heads + model_.key_value_heads()} * model_.head_dim();
    }
    /// The number of pairs of a query and a key that it sees, over all query heads of a sequence.
    [[nodiscard]] std::uint64_t pairs() const { return model_.heads * (tokens() * (tokens() + 1) / 2); }

private:
    [[nodiscard]] std::uint64_t numbers(TensorId id) const {
        return tensors_[id].rows.fixed * tensors_[id].cols;
    }
    const ModelConfig& model_;
    std::span<const Tensor> tensors_;
    std::span<const TensorId> operands_;
    std::span<const TensorId> outputs_;
};

struct OperatorRow {
    OperatorKind kind = OperatorKind::kEmbedding;
    std::string_view name;  ///< "layer_norm"; in dumps and JSON
    Phase phase = Phase::kForward;
    ShortList<Operand, 5> operands;
    ShortList<Output, 3> outputs;
    Flops (*flops)(const Shapes& shapes) = nullptr;
    Cut cut;
    /// True when no machine has to hold the outputs as a whole: squares of attention and rows of logits are
    /// consumed, or rematerialised, a piece at a time.
    bool is_transient = false;
    std::uint8_t left_digits = 2;  ///< of a product in profile i16: digits of its first operand

    /// How profile i16 cuts and scales a product of this kind, in a model of `context` tokens.
    [[nodiscard]] arithmetic::ProductRule rule(std::uint64_t context) const;
    /// Whether tensors of these ids may be the operands and outputs of such an operator.
    [[nodiscard]] bool accepts(std::span<const Tensor> tensors, std::span<const TensorId> operand_ids,
                               std::span<const TensorId> output_ids) const;
};

/// Every row, once.
std::span<const OperatorRow> operator_table();

/// The row of a kind.
const OperatorRow& row_of(OperatorKind kind);

/// The name in its row.
std::string_view to_text(OperatorKind kind);

}  // namespace assay::program
