// SPDX-License-Identifier: Apache-2.0
// Fused attention of profile i16, whose squares never lie in memory: its operands become digits, from which
// one kernel makes each output (kernels/attention_i16.hpp).
#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cuda/cuda_device.hpp"
#include "trainer/cuda/head_columns.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

using Kind = program::OperatorKind;

static_assert(attention::kBlock == arithmetic::kAttentionBlock);

bool CudaDevice::fuses_attention(const program::Program& program) const {
    return options_.ways.fused_attention && program.profile == program::Profile::kI16 &&
           can_fuse_attention(program.model.head_dim());
}

DigitPlace CudaDevice::attention_digits(const program::ModelConfig& model) {
    // By token: 64 digits each. By number a head has no more lines, of as many pieces of 64 tokens and one
    // more.
    const unsigned tokens = narrow(model.context);
    return {tokens + attention::kBlock, attention::kNumbers, narrow(arithmetic::kMaxProductBlock), 2};
}

Digits CudaDevice::pack_heads(Digited& into, HeadLines lines, const OperatorCall& call, std::size_t operand,
                              const HeadRange& range, std::uint64_t column, bool of_keys) {
    const HeadColumns at(program_->model, range.head);
    const unsigned tokens = narrow(context_), heads = narrow(range.heads), sharing = of_keys ? at.sharing : 1;
    const std::uint64_t width = cols(call.one.operands[operand]);
    const OperandPlace place{width, 1, tokens * width, at.dim, heads / sharing, 1};
    const bool by_token = lines == HeadLines::kTokens;
    const DigitPlace to = by_token ? DigitPlace{tokens, at.dim, narrow(arithmetic::kMaxProductBlock), 2}
                                   : DigitPlace{at.dim, tokens, attention::kBlock, 2};
    Digits digits =
        pack(into, to, {rows_from(call, operand, range, column), by_token ? place : turned(place)},
             Mask::kNone, narrow(range.sequences * heads / sharing));
    digits.inner = heads;
    digits.sharing = sharing;
    return digits;
}

// What all outputs of a range need: the digits of queries and keys.
AttentionI16Args CudaDevice::attention_args(const OperatorCall& scores, const HeadRange& range) {
    const HeadColumns at(program_->model, range.head);
    AttentionI16Args args;
    args.tokens = narrow(context_);
    args.heads = narrow(range.heads);
    args.sharing = at.sharing;
    args.scale = arithmetic::attention_scale(at.dim);
    args.q = pack_heads(left_, HeadLines::kTokens, scores, 0, range, at.query, false);
    args.k = pack_heads(right_, HeadLines::kTokens, scores, 0, range, at.key, true);
    return args;
}

void CudaDevice::fused_attention(const GroupCall& call) {
    const OperatorCall scores = call_of(*find(call.group, Kind::kAttentionScores), call.tensors);
    const OperatorCall max = call_of(*find(call.group, Kind::kSoftmaxMax), call.tensors);
    const OperatorCall sum = call_of(*find(call.group, Kind::kSoftmaxSum), call.tensors);
    const OperatorCall values = call_of(*find(call.group, Kind::kAttentionValues), call.tensors);
    for (const HeadRange& range : ranges(head_bytes(*program_))) {
        const HeadColumns at(program_->model, range.head);
        const std::uint64_t rows = range.sequences * range.heads * context_;
        const std::uint64_t first = first_square(range) * context_;
        const std::uint64_t width = cols(values.one.outputs[0]);
        AttentionI16Args args = attention_args(scores, range);
        args.numbers = pack_heads(number_digits_, HeadLines::kNumbers, values, 1, range, at.value, true);
        args.max = floats(out(max, 0).data + first, rows);
        args.sum = floats(out(sum, 0).data + first, rows);
        args.c = rows_to(values, range, at.query);
        args.to = {width, 1, context_ * width, at.dim, narrow(range.heads), 1};
        args.scores = watch(scores.index);
        args.watch = watch(values.index);
        attention_i16(stream(), AttentionOutput::kValues, args, narrow(range.sequences));
    }
}

void CudaDevice::fused_attention_gradient(const GroupCall& call) {
    const GradientProducts products = gradient_products(call);
    const OperatorCall &by_value = products.by_value, &by_probability = products.by_probability,
                       &by_query = products.by_query, &by_key = products.by_key;
    for (const HeadRange& range : ranges(head_bytes(*program_))) {
        const HeadColumns at(program_->model, range.head);
        const std::uint64_t rows = range.sequences * range.heads * context_;
        const std::uint64_t first = first_square(range) * context_;
        const std::uint64_t width = cols(by_query.one.outputs[0]);
        const unsigned sequences = narrow(range.sequences), heads = narrow(range.heads);
        AttentionI16Args args = attention_args(products.scores, range);
        args.v = pack_heads(value_digits_, HeadLines::kTokens, by_probability, 1, range, at.value, true);
        args.d_o = pack_heads(slope_digits_, HeadLines::kTokens, by_probability, 0, range, at.query, false);
        args.max = floats(call.tensors[call.group.max] + first, rows);
        args.sum = floats(call.tensors[call.group.sum] + first, rows);
        args.dot = floats(call.scratch, rows);
        args.inverse = floats(call.scratch + rows, rows);
        args.slopes = watch(by_probability.index);
        args.dots = watch(*find(call.group, Kind::kSoftmaxDot));
        args.after = watch(*find(call.group, Kind::kSoftmaxGradient));
        // The probabilities' gradient, its dot products and the scores' are looked at once, by the first
        // kernel.
        const auto make = [&](AttentionOutput output, const OperatorCall& one, Digits numbers,
                              std::uint64_t column, unsigned matrices) {
            args.numbers = numbers;
            args.c = rows_to(one, range, column);
            args.to = {width, 1, context_ * width, at.dim, matrices, 1};
            args.watch = watch(one.index);
            attention_i16(stream(), output, args, sequences);
        };
        using enum AttentionOutput;
        make(kQueryGradient, by_query,
             pack_heads(number_digits_, HeadLines::kNumbers, by_query, 1, range, at.key, true), at.query,
             heads);
        make(kValueGradient, by_value,
             pack_heads(number_digits_, HeadLines::kNumbers, by_value, 1, range, at.query, false), at.value,
             heads / at.sharing);
        make(kKeyGradient, by_key,
             pack_heads(number_digits_, HeadLines::kNumbers, by_key, 1, range, at.query, false), at.key,
             heads / at.sharing);
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
