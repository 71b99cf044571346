// SPDX-License-Identifier: Apache-2.0
// Linear layers, the head, and attention's products, in the profile of the program.
#include "contracts/arithmetic/attention.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cuda/cuda_device.hpp"
#include "trainer/cuda/head_columns.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

using Kind = program::OperatorKind;

void CudaDevice::multiply(const Operator& one, const Products& p) {
    if (program_->profile == program::Profile::kI16) return multiply_exactly(one, p);
    product_f32(stream(),
                {.m = p.m,
                 .n = p.n,
                 .k = p.k,
                 .a = p.a,
                 .b = p.b,
                 .c = p.c,
                 .to = p.to,
                 .bias = p.bias,
                 .scale = p.scale,
                 .carry = p.carry,
                 .watch = p.watch},
                p.mask, p.matrices);
}

Digits CudaDevice::pack(Digited& into, DigitPlace place, OperandView from, Mask mask, unsigned matrices) {
    pack_i16(stream(),
             {.from = from,
              .place = place,
              .digits = into.words.of(place.words() * matrices),
              .exponents = into.exponents.of(place.exponents() * matrices)},
             mask, matrices);
    return {into.words.data(), into.exponents.data(), place};
}

void CudaDevice::multiply_exactly(const Operator& one, const Products& p) {
    ASSAY_CHECK(one.rule.b_digits == 2);
    const unsigned block = narrow(one.rule.block);
    const unsigned shared = p.b.place.sharing;
    Digits a = pack(left_, {p.m, p.k, block, one.rule.a_digits}, p.a, p.mask, p.matrices);
    Digits b = pack(right_, {p.n, p.k, block, one.rule.b_digits}, {p.b.data, once(turned(p.b.place))},
                    Mask::kNone, p.matrices / shared);
    b.inner = p.b.place.inner;
    b.sharing = shared;
    ProductI16Args args{.a = a,
                        .b = b,
                        .c = p.c,
                        .to = p.to,
                        .bias = p.bias,
                        .scale = p.scale,
                        .carry = p.carry,
                        .watch = p.watch};
    if (options_.ways.cut_products) args.split = split_of(args, p.mask, p.matrices, processors_);
    if (args.split.cuts()) args.parts = parts_.of(part_numbers(args));
    product_i16(stream(), args, p.mask, p.matrices, processors_);
}

void CudaDevice::linear(const OperatorCall& call) {
    const Operator& one = call.one;
    const std::uint64_t in = cols(one.operands[0]), width = cols(one.outputs[0]);
    // Whether the weight lies [k, n], as the product wants it.
    const bool forward = one.kind == Kind::kLinear, in_out = one.layout == program::WeightLayout::kInOut;
    const bool is_head = one.kind == Kind::kHead || one.kind == Kind::kHeadInputGradient;
    const bool plain = is_head ? one.kind == Kind::kHeadInputGradient : forward == in_out;
    Products p{.m = narrow(call.rows), .n = narrow(width), .k = narrow(in)};
    p.a = {call.in(0), {in, 1}};
    p.b = {call.in(1), plain ? OperandPlace{width, 1} : OperandPlace{1, in}};
    p.c = out(call, 0);
    p.c.count = call.rows * width;
    p.to = {width, 1};
    p.watch = watch(call.index);
    if (forward && one.operands.size() > 2) p.bias = call.in(2);
    multiply(one, p);
}

void CudaDevice::weight_gradient(const OperatorCall& call, bool carry) {
    const Operator& one = call.one;
    // The rows of the weight come from x when it is [in,out] and from dy when it is [out,in].
    const bool is_turned =
        one.kind == Kind::kLinearWeightGradient && one.layout == program::WeightLayout::kOutIn;
    const std::size_t left = is_turned ? 1 : 0;
    const std::uint64_t m = cols(one.operands[left]), n = cols(one.operands[1 - left]);
    multiply(one, {.m = narrow(m),
                   .n = narrow(n),
                   .k = narrow(call.rows),
                   .a = {call.in(left), {1, m}},
                   .b = {call.in(1 - left), {n, 1}},
                   .c = out(call, 0),
                   .to = {n, 1},
                   .carry = carry,
                   .watch = watch(call.index)});
}

void CudaDevice::attention_products(const OperatorCall& call) {
    const bool writes_square =
        call.one.kind == Kind::kAttentionScores || call.one.kind == Kind::kAttentionProbabilityGradient;
    float* const squares = call.tensors[writes_square ? call.one.outputs[0] : call.one.operands[0]];
    for (const HeadRange& range : ranges(square_bytes(program_->model))) {
        attention_product(call, range, squares + first_square(range) * context_ * context_);
    }
}

// The operand from the first row of the range's sequences on, at a column.
const float* CudaDevice::rows_from(const OperatorCall& call, std::size_t operand, const HeadRange& range,
                                   std::uint64_t column) const {
    return call.in(operand) + range.sequence * context_ * cols(call.one.operands[operand]) + column;
}

// The same of the first output.
OutputArray<float> CudaDevice::rows_to(const OperatorCall& call, const HeadRange& range,
                                       std::uint64_t column) const {
    OutputArray<float> array = out(call, 0);
    const std::uint64_t first = range.sequence * context_ * cols(call.one.outputs[0]) + column;
    array.data += first;
    array.count -= first;
    return array;
}

void CudaDevice::attention_product(const OperatorCall& call, const HeadRange& range, float* squares) {
    const Operator& one = call.one;
    const HeadColumns at(program_->model, range.head);
    const unsigned tokens = narrow(context_), heads = narrow(range.heads);
    // A head's columns in rows of `width`, for each query head of a sequence, or for each member of the
    // groups that share keys.
    const auto by_query = [&](std::uint64_t width) {
        return OperandPlace{width, 1, tokens * width, at.dim, heads, 1};
    };
    const auto by_key = [&](std::uint64_t width) {
        return OperandPlace{width, 1, tokens * width, at.dim, heads, at.sharing};
    };
    const std::uint64_t square_size = std::uint64_t{tokens} * tokens;
    const OperandPlace square{tokens, 1, heads * square_size, square_size, heads, 1};
    Products p{.m = tokens, .n = at.dim, .k = tokens, .matrices = narrow(range.sequences * heads)};
    p.watch = watch(call.index);
    const std::uint64_t width = cols(one.operands.back());
    switch (one.kind) {
        case Kind::kAttentionScores:
        case Kind::kAttentionProbabilityGradient: {
            const bool scores = one.kind == Kind::kAttentionScores;
            p.n = tokens;
            p.k = at.dim;
            p.a = {rows_from(call, 0, range, at.query), by_query(cols(one.operands[0]))};
            p.b = {scores ? rows_from(call, 0, range, at.key) : rows_from(call, 1, range, at.value),
                   turned(by_key(width))};
            p.c = out(call, 0);
            p.c.data = squares;
            p.c.count = p.matrices * square_size;
            p.to = square;
            p.mask = Mask::kLower;
            p.scale = scores ? arithmetic::attention_scale(at.dim) : 1.0F;
            return multiply(one, p);
        }
        case Kind::kAttentionValues:
        case Kind::kAttentionQueryGradient:
            p.a = {squares, square};
            p.b = {rows_from(call, 1, range, one.kind == Kind::kAttentionValues ? at.value : at.key),
                   by_key(width)};
            p.c = rows_to(call, range, at.query);
            p.to = by_query(cols(one.outputs[0]));
            p.mask = Mask::kUpTo;
            return multiply(one, p);
        case Kind::kAttentionValueGradient:
        case Kind::kAttentionKeyGradient: return shared_gradient(call, range, squares);
        default: ASSAY_CHECK(false);
    }
}

// Query heads that share keys add to one gradient, ascending.
void CudaDevice::shared_gradient(const OperatorCall& call, const HeadRange& range, float* squares) {
    const Operator& one = call.one;
    const HeadColumns at(program_->model, range.head);
    const unsigned tokens = narrow(context_), keys = narrow(range.heads) / at.sharing;
    const std::uint64_t square_size = std::uint64_t{tokens} * tokens;
    const std::uint64_t width = cols(one.operands.back()), to_width = cols(one.outputs[0]);
    Products p{.m = tokens, .n = at.dim, .k = tokens, .matrices = narrow(range.sequences * keys)};
    p.mask = Mask::kFromOn;
    p.watch = watch(call.index);
    p.c = rows_to(call, range, one.kind == Kind::kAttentionValueGradient ? at.value : at.key);
    p.to = {to_width, 1, tokens * to_width, at.dim, keys, 1};
    for (unsigned member = 0; member < at.sharing; ++member) {
        p.a = {squares + member * square_size,
               {1, tokens, range.heads * square_size, at.sharing * square_size, keys, 1}};
        p.b = {rows_from(call, 1, range, at.query + std::uint64_t{member} * at.dim),
               {width, 1, tokens * width, std::uint64_t{at.sharing} * at.dim, keys, 1}};
        p.carry = member > 0;
        multiply(one, p);
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
