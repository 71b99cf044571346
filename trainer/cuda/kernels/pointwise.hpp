// SPDX-License-Identifier: Apache-2.0
// Operators whose outputs each depend on the operands at the same place or pair of places
// (contracts/arithmetic/pointwise.hpp, swiglu.hpp, rope.hpp, embedding.hpp; the exponentials, quotients and
// gradients of attention.hpp and loss.hpp). An output may overwrite its operand.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/number_watch.hpp"
#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct PointArgs {
    std::uint64_t count = 0;  ///< threads that have work
    const float* a = nullptr;
    const float* b = nullptr;
    const float* c = nullptr;
    const std::uint32_t* tokens = nullptr;  ///< by row: the embedding's tokens, or the loss's targets
    OutputArray<float> out;
    std::uint64_t cols = 1;     ///< of a row of out; of a rope's row: its stride
    std::uint64_t context = 0;  ///< tokens of a sequence; of squares: masked beyond the diagonal. 0: no mask
    std::uint64_t heads = 0;    ///< of rope: the heads that it rotates
    std::uint64_t head_dim = 0;
    float number = 0;   ///< a factor of the operator
    NumberWatch watch;  ///< of the operator
};

/// The operator that a Pointwise kernel runs.
enum class PointKind : std::uint8_t {
    kAdd,              ///< a + b
    kGelu,             ///< of a
    kGeluGradient,     ///< x = a, dy = b
    kSwiGlu,           ///< a: gates and values
    kSwiGluGradient,   ///< a: gates and values, dy = b; a thread makes a pair
    kRope,             ///< out in place, cos = a, sin = b; a thread makes a pair
    kRopeGradient,     ///< the same
    kEmbedding,        ///< rows of a, plus rows of b by position where it is not null
    kExp,              ///< exp(a − b[row])
    kDivide,           ///< a / b[row]
    kSoftmaxGradient,  ///< (p · (dp − dot[row])) · number; dp = a, p = b, dot = c
    kLossGradient,     ///< (a / b[row], less 1 at the target) · number
};

/// What a mutant of a pointwise kernel does wrong.
enum class PointFault : std::uint8_t { kNone, kContracted };

namespace pointwise {

/// tanh32 with fewer instructions and the same bits. Of its exponential e of 2|x|:
/// - From |x| = 10 on 2 / (e + 1) is less than 2^-25 and the result 1, so e need not be larger than e^20.
/// - It is p · 2^k with 1/2 < p < 2 and 0 <= k < 30, a normal number; so k is added to the exponent of p.
/// - 2 / (e + 1) is twice the rounded reciprocal, which is exact, and 1 less it is rounded once.
ASSAY_SIMT float short_tanh(float x) {
    using L = SimtLanes;
    const std::int32_t sign = L::andi(bits_of(x), static_cast<std::int32_t>(0x80000000U));
    const float a = from_bits(L::xori(bits_of(x), sign));
    const float small = tanh_polynomial<L>(a);
    const float doubled = add_rn(a, a), power = doubled < 20.0F ? doubled : 20.0F;
    std::int32_t k = 0;
    const float p = exp_significand<L>(power, k);
    const float e = from_bits(L::addi(bits_of(p), L::shl<23>(k)));
    const float large = fma_rn(-2.0F, reciprocal_rn(add_rn(e, 1.0F)), 1.0F);
    return from_bits(L::ori(bits_of(a < 0.625F ? small : large), sign));
}

ASSAY_SIMT float inner_tanh(float x) {
    constexpr float kScale = 0.7978845608028654F, kCubic = 0.044715F;
    return short_tanh(mul_rn(mul_rn(x, kScale), fma_rn(mul_rn(x, x), kCubic, 1.0F)));
}

ASSAY_SIMT float gelu(float x) {
    const float h = mul_rn(0.5F, x);
    return fma_rn(h, inner_tanh(x), h);
}

ASSAY_SIMT float gelu_gradient(float x, float dy) {
    constexpr float kScale = 0.7978845608028654F, kSlopeCubic = 0.10703222440890037F;
    const float t = inner_tanh(x);
    const float s = fma_rn(-t, t, 1.0F);
    const float q = fma_rn(mul_rn(x, x), kSlopeCubic, kScale);
    const float a = fma_rn(0.5F, t, 0.5F);
    return mul_rn(dy, fma_rn(mul_rn(mul_rn(0.5F, x), s), q, a));
}

// These functions write numbers and return whether they are finite.

ASSAY_SIMT bool put(const PointArgs& args, std::uint64_t i, float value) {
    args.out.set(i, value);
    return is_finite(value);
}

ASSAY_SIMT bool put(const PointArgs& args, std::uint64_t i, float value, std::uint64_t j, float other) {
    const bool finite = put(args, i, value);
    return put(args, j, other) && finite;
}

ASSAY_SIMT bool swiglu(const PointArgs& args, std::uint64_t i) {
    const std::uint64_t gate = i / args.cols * 2 * args.cols + i % args.cols;
    const float x = args.a[gate];
    return put(args, i, mul_rn(mul_rn(x, sigmoid32(x)), args.a[gate + args.cols]));
}

// `cols` is that of dy.
ASSAY_SIMT bool swiglu_gradient(const PointArgs& args, std::uint64_t i) {
    const std::uint64_t at = i / args.cols * 2 * args.cols + i % args.cols;
    const float gate = args.a[at], up = args.a[at + args.cols], d = args.b[i];
    const float s = sigmoid32(gate);
    const float dgate = mul_rn(mul_rn(d, up), silu_slope32(gate, s));
    return put(args, at, dgate, at + args.cols, mul_rn(d, mul_rn(gate, s)));
}

template <bool kBack>
ASSAY_SIMT bool rope(const PointArgs& args, std::uint64_t i) {
    const std::uint64_t half = args.head_dim / 2, row = i / (args.heads * half);
    const std::uint64_t head = i / half % args.heads, pair = i % half;
    const std::uint64_t first = row * args.cols + head * args.head_dim + pair, second = first + half;
    const std::uint64_t angle = row % args.context * half + pair;
    const float cos = args.a[angle], sin = args.b[angle];
    const float a = args.out.get(first), b = args.out.get(second);
    const float left = mul_rn(b, sin), right = mul_rn(a, sin);
    const float turned = fma_rn(a, cos, kBack ? left : -left);
    return put(args, first, turned, second, fma_rn(b, cos, kBack ? -right : right));
}

ASSAY_SIMT bool embedding(const PointArgs& args, std::uint64_t i) {
    const std::uint64_t row = i / args.cols, column = i % args.cols;
    const float value = args.a[args.tokens[row] * args.cols + column];
    const float* const places = args.b;
    return put(args, i,
               places == nullptr ? value : add_rn(value, places[row % args.context * args.cols + column]));
}

ASSAY_SIMT float loss_gradient(const PointArgs& args, std::uint64_t i) {
    const std::uint64_t row = i / args.cols;
    const float p = div_rn(args.a[i], args.b[row]);
    return mul_rn(i % args.cols == args.tokens[row] ? sub_rn(p, 1.0F) : p, args.number);
}

}  // namespace pointwise

/// One thread for each number or pair, or for eight numbers where nothing depends on their place.
template <PointKind kKind, PointFault kFault = PointFault::kNone>
struct Pointwise {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    static constexpr bool kAnywhere =
        kKind == PointKind::kAdd || kKind == PointKind::kGelu || kKind == PointKind::kGeluGradient;
    static constexpr unsigned kEach = kAnywhere ? 8 : 1;
    static constexpr unsigned kNumbers = kThreads * kEach;
    using Args = PointArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.count + kNumbers - 1) / kNumbers), 1, 1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        using enum PointKind;
        if constexpr (kAnywhere) {
            const std::uint64_t first = std::uint64_t{block.x()} * kNumbers;
            const bool whole = first + kNumbers <= args.count && is_aligned16(args.a) &&
                               (kKind == kGelu || is_aligned16(args.b)) && is_aligned16(args.out.data);
            args.watch.note(block, whole ? quads(block, args, first) : numbers(block, args, first));
        } else {
            const std::uint64_t i = std::uint64_t{block.x()} * kThreads + block.thread();
            if (i >= args.count) return;
            bool finite = true;
            if constexpr (kKind == kSwiGlu) {
                finite = pointwise::swiglu(args, i);
            } else if constexpr (kKind == kSwiGluGradient) {
                finite = pointwise::swiglu_gradient(args, i);
            } else if constexpr (kKind == kRope || kKind == kRopeGradient) {
                finite = pointwise::rope<kKind == kRopeGradient>(args, i);
            } else if constexpr (kKind == kEmbedding) {
                finite = pointwise::embedding(args, i);
            } else {
                const std::uint64_t row = i / args.cols;
                // Masked numbers of squares do not change.
                if (args.context != 0 && i % args.cols > row % args.context) return;
                finite = pointwise::put(args, i, number(args, i, row));
            }
            args.watch.note(block, finite);
        }
    }

private:
    // Of a block whose quads do not all lie at addresses of 16 bytes.
    static ASSAY_SIMT bool numbers(const SimtBlock& block, const Args& args, std::uint64_t first) {
        bool finite = true;
        ASSAY_NO_UNROLL
        for (unsigned n = 0; n < kEach; ++n) {
            const std::uint64_t i = first + n * kThreads + block.thread();
            if (i >= args.count) break;
            finite = pointwise::put(args, i, of(args.a[i], kKind == PointKind::kGelu ? 0.0F : args.b[i])) &&
                     finite;
        }
        return finite;
    }
    static ASSAY_SIMT bool quads(const SimtBlock& block, const Args& args, std::uint64_t first) {
        constexpr unsigned kQuads = kEach / 4;
        float a[kQuads][4], b[kQuads][4] = {};
        ASSAY_UNROLL
        for (unsigned n = 0; n < kQuads; ++n) {
            const std::uint64_t i = first + 4 * (n * kThreads + block.thread());
            load4(args.a + i, a[n]);
            if constexpr (kKind != PointKind::kGelu) load4(args.b + i, b[n]);
        }
        AllFinite finite;
        ASSAY_UNROLL
        for (unsigned n = 0; n < kQuads; ++n) {
            float out[4];
            ASSAY_UNROLL
            for (unsigned k = 0; k < 4; ++k) {
                out[k] = of(a[n][k], b[n][k]);
                finite.see(out[k]);
            }
            args.out.set4(first + 4 * (n * kThreads + block.thread()), out);
        }
        return finite.found();
    }

    static ASSAY_SIMT float of(float a, float b) {
        using enum PointKind;
        if constexpr (kKind == kAdd) return add_rn(a, b);
        if constexpr (kKind == kGelu) return pointwise::gelu(a);
        if constexpr (kKind == kGeluGradient) return pointwise::gelu_gradient(a, b);
    }
    static ASSAY_SIMT float number(const Args& args, std::uint64_t i, std::uint64_t row) {
        using enum PointKind;
        if constexpr (kKind == kExp) return exp32(sub_rn(args.a[i], args.b[row]));
        if constexpr (kKind == kDivide) return div_rn(args.a[i], args.b[row]);
        if constexpr (kKind == kLossGradient) return pointwise::loss_gradient(args, i);
        if constexpr (kKind == kSoftmaxGradient) {
            // A mutant multiplies and subtracts with one rounding.
            const float p = args.b[i], slope = kFault == PointFault::kContracted
                                                   ? fma_rn(p, args.a[i], -mul_rn(p, args.c[row]))
                                                   : mul_rn(p, sub_rn(args.a[i], args.c[row]));
            return mul_rn(slope, args.number);
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
