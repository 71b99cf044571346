// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/operator_table.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::program {

namespace {
using K = OperatorKind;

// Operands and outputs by role.
constexpr Operand tokens(std::string_view name) { return {name, TensorRole::kTokens}; }
constexpr Operand parameter(std::string_view name) { return {name, TensorRole::kParameter}; }
constexpr Operand activation(std::string_view name) { return {name, TensorRole::kActivation}; }
constexpr Operand gradient(std::string_view name) { return {name, TensorRole::kGradient}; }
constexpr Operand sum(std::string_view name) { return {name, TensorRole::kParameterGradient}; }
constexpr Operand scalar(std::string_view name) { return {name, TensorRole::kScalar}; }
constexpr Operand either(std::string_view name) {
    return {name, TensorRole::kActivation, TensorRole::kGradient};
}
constexpr Operand maybe(Operand one) { return {one.name, one.role, one.other, Presence::kMaybe}; }
constexpr Operand many(Operand one) { return {one.name, one.role, one.other, Presence::kMany}; }

constexpr Output output(Operand one, Write write) {
    return {one.name, one.role, one.other, one.presence, write};
}
constexpr Output fresh(Operand one) { return output(one, Write::kWhole); }
constexpr Output in_place(Operand one) { return output(one, Write::kInPlace); }
constexpr Output columns(Operand one) { return output(one, Write::kColumns); }
constexpr Output adds_to(Operand one) { return output(one, Write::kAccumulate); }

// Formulas: of every sequence, of every step.
using S = const Shapes&;
constexpr Flops each(std::uint64_t flops) { return {0, flops}; }
constexpr Flops once(std::uint64_t flops) { return {flops, 0}; }

// `n` for every number of the first output.
template <std::uint64_t n>
Flops per_number(S s) {
    return each(n * s.tokens() * s.out(0));
}
// `n` for every pair of a query and a key that it sees.
template <std::uint64_t n>
Flops per_pair(S s) {
    return each(n * s.pairs());
}
// Products: k from the first operand's columns, from tokens, or from a head's numbers.
Flops product(S s) { return each(2 * s.tokens() * s.in(0) * s.out(0)); }
Flops weight_product(S s) { return each(2 * s.tokens() * s.in(0) * s.in(1)); }
Flops head_product(S s) { return each(s.pairs() * 2 * s.head_dim()); }
// A product with cos and an fma with sin for each number of queries and keys.
Flops rotation(S s) { return each(s.tokens() * 3 * s.query_key_width()); }

constexpr Cut kElements{Reach::kElement, SumChain::kNone};
constexpr Cut kRows{Reach::kRow, SumChain::kNone};
constexpr Cut kRowSums{Reach::kRow, SumChain::kLanes};
constexpr Cut kRowProducts{Reach::kRow, SumChain::kFeatures};
constexpr Cut kPairProducts{Reach::kSequence, SumChain::kFeatures};
constexpr Cut kKeySums{Reach::kSequence, SumChain::kKeys};
constexpr Cut kQuerySums{Reach::kSequence, SumChain::kQueries};
constexpr Cut kTokenProducts{Reach::kStep, SumChain::kTokens};
constexpr Cut kColumnSums{Reach::kStep, SumChain::kSequences};

constexpr bool kTransient = true;
// 16-bit fixed point would round most of a gradient row over a large vocabulary to zero.
constexpr std::uint8_t kLogitsGradientDigits = 3;

// clang-format off
constexpr std::array kRowsOfTable = {
    // kind, name, phase
    //     operands, outputs
    //     FLOPs, cut, transient, left digits
    OperatorRow{K::kEmbedding, "embedding", Phase::kForward,
        {tokens("inputs"), parameter("tokens"), maybe(parameter("positions"))}, {fresh(activation("x"))},
        [](S s) { return each(s.operands() > 2 ? s.tokens() * s.out(0) : 0); }, kRows},
    OperatorRow{K::kLayerNorm, "layer_norm", Phase::kForward,
        {activation("x"), parameter("gain"), parameter("bias")},
        {fresh(activation("y")), fresh(activation("mean")), fresh(activation("rstd"))},
        [](S s) { return each(s.tokens() * (7 * s.in(0) + 6)); }, kRowSums},
    OperatorRow{K::kRmsNorm, "rms_norm", Phase::kForward,
        {activation("x"), parameter("gain")}, {fresh(activation("y")), fresh(activation("rstd"))},
        [](S s) { return each(s.tokens() * (4 * s.in(0) + 4)); }, kRowSums},
    OperatorRow{K::kLinear, "linear", Phase::kForward,
        {activation("x"), parameter("weight"), maybe(parameter("bias"))}, {fresh(activation("y"))},
        [](S s) { return each(s.tokens() * (2 * s.in(0) * s.out(0) + (s.operands() > 2 ? s.out(0) : 0))); },
        kRowProducts},
    OperatorRow{K::kRope, "rope", Phase::kForward,
        {activation("qkv")}, {in_place(activation("qkv"))}, rotation, kRows},

    OperatorRow{K::kAttentionScores, "attention_scores", Phase::kForward,
        {activation("qkv")}, {fresh(activation("scores"))},
        [](S s) { return each(s.pairs() * (2 * s.head_dim() + 1)); }, kPairProducts, kTransient},
    OperatorRow{K::kSoftmaxMax, "softmax_max", Phase::kForward,
        {activation("scores")}, {fresh(activation("max"))}, per_pair<1>, kRows},
    OperatorRow{K::kSoftmaxExp, "softmax_exp", Phase::kForward,
        {activation("scores"), activation("max")}, {fresh(activation("e"))}, per_pair<21>, kRows, kTransient},
    OperatorRow{K::kSoftmaxSum, "softmax_sum", Phase::kForward,
        {activation("e")}, {fresh(activation("sum"))}, per_pair<1>, kRowSums},
    OperatorRow{K::kSoftmaxDivide, "softmax_divide", Phase::kForward,
        {activation("e"), activation("sum")}, {fresh(activation("p"))}, per_pair<1>, kRows, kTransient},
    OperatorRow{K::kAttentionValues, "attention_values", Phase::kForward,
        {activation("p"), activation("qkv")}, {fresh(activation("o"))}, head_product, kKeySums},

    OperatorRow{K::kGelu, "gelu", Phase::kForward,
        {activation("x")}, {fresh(activation("y"))}, per_number<28>, kElements},
    OperatorRow{K::kSwiGlu, "swiglu", Phase::kForward,
        {activation("gate and up")}, {fresh(activation("y"))}, per_number<25>, kRows},
    OperatorRow{K::kAdd, "add", Phase::kEitherWay,
        {either("a"), either("b")}, {fresh(either("y"))}, per_number<1>, kElements},

    OperatorRow{K::kHead, "head", Phase::kForward,
        {activation("h"), parameter("weight")}, {fresh(activation("logits"))}, product, kRowProducts,
        kTransient},
    OperatorRow{K::kLossMax, "loss_max", Phase::kForward,
        {activation("logits")}, {fresh(activation("max"))},
        [](S s) { return each(s.tokens() * s.in(0)); }, kRows, kTransient},
    OperatorRow{K::kLossExp, "loss_exp", Phase::kForward,
        {activation("logits"), activation("max")}, {fresh(activation("e"))}, per_number<21>, kRows,
        kTransient},
    OperatorRow{K::kLossSum, "loss_sum", Phase::kForward,
        {activation("e")}, {fresh(activation("sum"))},
        [](S s) { return each(s.tokens() * s.in(0)); }, kRowSums, kTransient},
    OperatorRow{K::kLossTokens, "loss_tokens", Phase::kForward,
        {activation("logits"), activation("max"), activation("sum"), tokens("targets")},
        {fresh(activation("losses"))}, per_number<22>, kRows, kTransient},
    OperatorRow{K::kLossTotal, "loss_total", Phase::kForward,
        {activation("losses")}, {fresh(scalar("loss"))},
        [](S s) { return Flops{1, s.tokens() + 1}; }, kColumnSums},

    OperatorRow{K::kLossGradient, "loss_gradient", Phase::kBackward,
        {activation("e"), activation("sum"), tokens("targets")}, {fresh(gradient("dlogits"))},
        [](S s) { return each(2 * s.tokens() * s.out(0) + s.tokens()); }, kRows, kTransient},
    OperatorRow{K::kHeadInputGradient, "head_input_gradient", Phase::kBackward,
        {gradient("dlogits"), parameter("weight")}, {fresh(gradient("dh"))}, product, kRowProducts,
        !kTransient, kLogitsGradientDigits},
    OperatorRow{K::kHeadWeightGradient, "head_weight_gradient", Phase::kBackward,
        {gradient("dlogits"), activation("h")}, {adds_to(sum("dweight"))}, weight_product, kTokenProducts,
        !kTransient, kLogitsGradientDigits},

    OperatorRow{K::kLayerNormInputGradient, "layer_norm_input_gradient", Phase::kBackward,
        {gradient("dy"), activation("x"), activation("mean"), activation("rstd"), parameter("gain")},
        {fresh(gradient("dx"))}, [](S s) { return each(s.tokens() * (10 * s.out(0) + 2)); }, kRowSums},
    OperatorRow{K::kLayerNormParameterGradient, "layer_norm_parameter_gradient", Phase::kBackward,
        {gradient("dy"), activation("x"), activation("mean"), activation("rstd")},
        {adds_to(sum("dgain")), adds_to(sum("dbias"))},
        [](S s) { return each(5 * s.tokens() * s.in(0) + 2 * s.in(0)); }, kColumnSums},
    OperatorRow{K::kRmsNormInputGradient, "rms_norm_input_gradient", Phase::kBackward,
        {gradient("dy"), activation("x"), activation("rstd"), parameter("gain")},
        {fresh(gradient("dx"))}, [](S s) { return each(s.tokens() * (7 * s.out(0) + 1)); }, kRowSums},
    OperatorRow{K::kRmsNormParameterGradient, "rms_norm_parameter_gradient", Phase::kBackward,
        {gradient("dy"), activation("x"), activation("rstd")}, {adds_to(sum("dgain"))},
        [](S s) { return each(3 * s.tokens() * s.in(0) + s.in(0)); }, kColumnSums},

    OperatorRow{K::kLinearInputGradient, "linear_input_gradient", Phase::kBackward,
        {gradient("dy"), parameter("weight")}, {fresh(gradient("dx"))}, product, kRowProducts},
    OperatorRow{K::kLinearWeightGradient, "linear_weight_gradient", Phase::kBackward,
        {activation("x"), gradient("dy")}, {adds_to(sum("dweight"))}, weight_product, kTokenProducts},
    OperatorRow{K::kLinearBiasGradient, "linear_bias_gradient", Phase::kBackward,
        {gradient("dy")}, {adds_to(sum("dbias"))},
        [](S s) { return each(s.tokens() * s.in(0) + s.in(0)); }, kColumnSums},
    OperatorRow{K::kGeluGradient, "gelu_gradient", Phase::kBackward,
        {activation("x"), gradient("dy")}, {fresh(gradient("dx"))}, per_number<36>, kElements},
    OperatorRow{K::kSwiGluGradient, "swiglu_gradient", Phase::kBackward,
        {activation("gate and up"), gradient("dy")}, {fresh(gradient("d(gate and up)"))},
        [](S s) { return each(31 * s.tokens() * s.in(1)); }, kRows},
    OperatorRow{K::kRopeGradient, "rope_gradient", Phase::kBackward,
        {gradient("dqkv")}, {in_place(gradient("dqkv"))}, rotation, kRows},

    OperatorRow{K::kAttentionValueGradient, "attention_value_gradient", Phase::kBackward,
        {activation("p"), gradient("do")}, {columns(gradient("dqkv"))}, head_product, kQuerySums},
    OperatorRow{K::kAttentionProbabilityGradient, "attention_probability_gradient", Phase::kBackward,
        {gradient("do"), activation("qkv")}, {fresh(gradient("dp"))}, head_product, kPairProducts,
        kTransient},
    OperatorRow{K::kSoftmaxDot, "softmax_dot", Phase::kBackward,
        {gradient("dp"), activation("p")}, {fresh(gradient("dot"))}, per_pair<2>, kRowSums, kTransient},
    OperatorRow{K::kSoftmaxGradient, "softmax_gradient", Phase::kBackward,
        {gradient("dp"), activation("p"), gradient("dot")}, {fresh(gradient("ds"))}, per_pair<3>, kRows,
        kTransient},
    OperatorRow{K::kAttentionQueryGradient, "attention_query_gradient", Phase::kBackward,
        {gradient("ds"), activation("qkv")}, {columns(gradient("dqkv"))}, head_product, kKeySums},
    OperatorRow{K::kAttentionKeyGradient, "attention_key_gradient", Phase::kBackward,
        {gradient("ds"), activation("qkv")}, {columns(gradient("dqkv"))}, head_product, kQuerySums},

    OperatorRow{K::kEmbeddingGradient, "embedding_gradient", Phase::kBackward,
        {tokens("inputs"), gradient("dx")}, {adds_to(sum("dtokens")), adds_to(maybe(sum("dpositions")))},
        [](S s) { return each(s.outputs() * s.tokens() * s.in(1)); }, kColumnSums},

    OperatorRow{K::kTiedGradient, "tied_gradient", Phase::kOncePerStep,
        {sum("by the head"), sum("by the embedding")}, {fresh(sum("dweight"))},
        [](S s) { return once(s.out_numbers(0)); }, kElements},
    OperatorRow{K::kGlobalNorm, "global_norm", Phase::kOncePerStep,
        {many(sum("gradients"))}, {fresh(scalar("norm"))},
        [](S s) {
            std::uint64_t numbers = 0;
            for (std::size_t i = 0; i < s.operands(); ++i) numbers += s.in_numbers(i);
            return once(2 * numbers);
        },
        {Reach::kStep, SumChain::kTiles}},
    OperatorRow{K::kClip, "clip", Phase::kOncePerStep,
        {scalar("norm")}, {fresh(scalar("clip"))}, [](S) { return once(3); }, kElements},
    OperatorRow{K::kAdamW, "adamw", Phase::kOncePerStep,
        {sum("gradient"), scalar("clip"), parameter("parameter"), {"m", TensorRole::kFirstMoment},
         {"v", TensorRole::kSecondMoment}},
        {in_place(parameter("parameter")), in_place({"m", TensorRole::kFirstMoment}),
         in_place({"v", TensorRole::kSecondMoment})},
        [](S s) { return once(17 * s.out_numbers(0)); }, kElements},
};
// clang-format on

constexpr std::size_t rows_with(OperatorKind kind) {
    std::size_t rows = 0;
    for (const OperatorRow& row : kRowsOfTable) rows += row.kind == kind ? 1 : 0;
    return rows;
}
// Whether a byte is a kind. Without a default, so that the compiler names a kind that is missing here.
constexpr bool is_kind(OperatorKind kind) {
    switch (kind) {
        case K::kEmbedding:
        case K::kLayerNorm:
        case K::kRmsNorm:
        case K::kLinear:
        case K::kRope:
        case K::kAttentionScores:
        case K::kSoftmaxMax:
        case K::kSoftmaxExp:
        case K::kSoftmaxSum:
        case K::kSoftmaxDivide:
        case K::kAttentionValues:
        case K::kGelu:
        case K::kSwiGlu:
        case K::kAdd:
        case K::kHead:
        case K::kLossMax:
        case K::kLossExp:
        case K::kLossSum:
        case K::kLossTokens:
        case K::kLossTotal:
        case K::kLossGradient:
        case K::kHeadInputGradient:
        case K::kHeadWeightGradient:
        case K::kLayerNormInputGradient:
        case K::kLayerNormParameterGradient:
        case K::kRmsNormInputGradient:
        case K::kRmsNormParameterGradient:
        case K::kLinearInputGradient:
        case K::kLinearWeightGradient:
        case K::kLinearBiasGradient:
        case K::kGeluGradient:
        case K::kSwiGluGradient:
        case K::kRopeGradient:
        case K::kAttentionValueGradient:
        case K::kAttentionProbabilityGradient:
        case K::kSoftmaxDot:
        case K::kSoftmaxGradient:
        case K::kAttentionQueryGradient:
        case K::kAttentionKeyGradient:
        case K::kEmbeddingGradient:
        case K::kTiedGradient:
        case K::kGlobalNorm:
        case K::kClip:
        case K::kAdamW: return true;
    }
    return false;
}
constexpr bool every_kind_has_one_row() {
    for (unsigned byte = 0; byte <= 255; ++byte) {
        const auto kind = static_cast<OperatorKind>(byte);
        if (rows_with(kind) != (is_kind(kind) ? 1U : 0U)) return false;
    }
    return true;
}
static_assert(every_kind_has_one_row());

// Whether tensors of `ids`, all of them, fit the list.
template <class List>
bool fit(const List& list, std::span<const Tensor> tensors, std::span<const TensorId> ids) {
    std::size_t next = 0;
    for (const auto& item : list) {
        const auto is_here = [&] {
            if (next == ids.size() || ids[next] >= tensors.size()) return false;
            const TensorRole role = tensors[ids[next]].role;
            return role == item.role || role == item.other;
        };
        if (item.presence == Presence::kAlways && !is_here()) return false;
        if (is_here()) ++next;
        while (item.presence == Presence::kMany && is_here()) ++next;
    }
    return next == ids.size();
}

}  // namespace

arithmetic::ProductRule OperatorRow::rule(std::uint64_t context) const {
    arithmetic::ProductRule out{.a_digits = left_digits};
    switch (cut.chain) {
        // A sequence, so that micro-batches leave the bits alone.
        case SumChain::kTokens: out.block = context; break;
        case SumChain::kKeys:
        case SumChain::kQueries: out.block = arithmetic::kAttentionBlock; break;
        default: break;
    }
    return out;
}

bool OperatorRow::accepts(std::span<const Tensor> tensors, std::span<const TensorId> operand_ids,
                          std::span<const TensorId> output_ids) const {
    if (!fit(operands, tensors, operand_ids) || !fit(outputs, tensors, output_ids)) return false;
    for (std::size_t i = 0; i < output_ids.size(); ++i) {
        const bool is_operand =
            std::find(operand_ids.begin(), operand_ids.end(), output_ids[i]) != operand_ids.end();
        if (is_operand != (outputs[i].write == Write::kInPlace)) return false;
    }
    return true;
}

std::span<const OperatorRow> operator_table() { return kRowsOfTable; }

const OperatorRow& row_of(OperatorKind kind) {
    const auto* const found = std::find_if(kRowsOfTable.begin(), kRowsOfTable.end(),
                                           [kind](const OperatorRow& row) { return row.kind == kind; });
    ASSAY_CHECK(found != kRowsOfTable.end());
    return *found;
}

std::string_view to_text(OperatorKind kind) { return row_of(kind).name; }

}  // namespace assay::program
