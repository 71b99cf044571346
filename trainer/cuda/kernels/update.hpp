// SPDX-License-Identifier: Apache-2.0
// The end of a step (contracts/arithmetic/optimizer.hpp): the global norm by tiles and the fixed tree, the
// clip, AdamW. Also the check that all numbers of an array are finite.
#pragma once

#include <cstdint>

#include "contracts/arithmetic/optimizer.hpp"
#include "trainer/cuda/kernels/number_watch.hpp"
#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct SquareTilesArgs {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    const float* g = nullptr;
    OutputArray<float> sums;  ///< one number for each tile of 16×16
    NumberWatch watch;        ///< of g
};

/// One thread for each tile. Grid: tiles.
struct SquareTiles {
    static constexpr unsigned kThreads = 128;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    static constexpr std::uint64_t kSide = 16;
    using Args = SquareTilesArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.sums);
    }
    static ASSAY_SIMT std::uint64_t across(const Args& args) { return (args.cols + kSide - 1) / kSide; }
    static Grid grid(const Args& args) {
        const std::uint64_t tiles = (args.rows + kSide - 1) / kSide * ((args.cols + kSide - 1) / kSide);
        return {static_cast<unsigned>((tiles + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t tile = std::uint64_t{block.x()} * kThreads + block.thread();
        const std::uint64_t top = tile / across(args) * kSide, left = tile % across(args) * kSide;
        if (top >= args.rows) return;
        float sum = 0.0F;
        bool finite = true;
        for (std::uint64_t i = top; i < top + kSide && i < args.rows; ++i) {
            for (std::uint64_t j = left; j < left + kSide && j < args.cols; ++j) {
                const float g = args.g[i * args.cols + j];
                sum = fma_rn(g, g, sum);
                finite = finite && is_finite(g);
            }
        }
        args.sums.set(tile, sum);
        args.watch.note(block, finite);
    }
};

/// What a mutant of the tree does wrong: it loses a number without a neighbour.
enum class TreeFault : std::uint8_t { kNone, kLosesOdd };

struct TreeSumArgs {
    std::uint64_t count = 0;
    const float* leaves = nullptr;
    OutputArray<float> sums;  ///< one for every 512 leaves, a whole branch of the tree
};

/// Grid: branches of 512 leaves, with one thread for two leaves.
template <TreeFault kFault = TreeFault::kNone>
struct TreeSum {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kLeaves = 2 * kThreads;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = true;
    using Args = TreeSumArgs;
    struct Shared {
        float leaves[2][kLeaves];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.sums);
    }
    static std::uint64_t branches(std::uint64_t count) { return (count + kLeaves - 1) / kLeaves; }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        Shared& shared = block.template shared<Shared>();
        const std::uint64_t first = std::uint64_t{block.x()} * kLeaves;
        unsigned count = args.count - first < kLeaves ? static_cast<unsigned>(args.count - first) : kLeaves;
        for (unsigned i = block.thread(); i < count; i += kThreads)
            shared.leaves[0][i] = args.leaves[first + i];
        block.sync();
        unsigned turn = 0;
        while (count > 1) {
            const unsigned pairs = count / 2, i = block.thread();
            const float* const from = shared.leaves[turn];
            if (i < pairs) shared.leaves[1 - turn][i] = add_rn(from[2 * i], from[2 * i + 1]);
            if (i == pairs && count % 2 != 0) {
                shared.leaves[1 - turn][i] = kFault == TreeFault::kLosesOdd ? 0.0F : from[2 * i];
            }
            count = pairs + count % 2;
            turn = 1 - turn;
            block.sync();
        }
        if (block.thread() == 0) args.sums.set(block.x(), shared.leaves[turn][0]);
    }
};

struct ScalarArgs {
    const float* from = nullptr;
    OutputArray<float> to;
    float limit = 0;
    NumberWatch watch;
};

/// Computes one number: the square root of the sum of squares, or the clip scale of a norm.
template <bool kClip>
struct Scalar {
    static constexpr unsigned kThreads = 32;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = false;
    using Args = ScalarArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.to);
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        if (block.thread() != 0) return;
        float value = 0.0F;
        if constexpr (kClip) {
            const float scale = div_rn(args.limit, add_rn(args.from[0], 1e-6F));
            value = scale < 1.0F ? scale : 1.0F;
        } else {
            value = sqrt_rn(args.from[0]);
        }
        args.to.set(0, value);
        args.watch.note(block, is_finite(value));
    }
};

struct AdamWArgs {
    std::uint64_t count = 0;
    arithmetic::AdamWCoefficients coefficients;
    const float* clip = nullptr;
    const float* g = nullptr;
    OutputArray<float> w, m, v;
    unsigned* diverged = nullptr;  ///< first operator with a number that is not finite
    unsigned index = 0;            ///< this operator
};

/// kTry: checks that the update would be finite, and writes nothing. kApply: writes the update if every
/// number of the step, those of the update included, was finite. kAlways: writes the update and checks it.
enum class UpdatePass : std::uint8_t { kTry, kApply, kAlways };

/// What a mutant of AdamW does wrong: it multiplies by a reciprocal.
enum class UpdateFault : std::uint8_t { kNone, kReciprocal };

/// One thread for each number.
template <UpdatePass kPass, UpdateFault kFault = UpdateFault::kNone>
struct AdamW {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = AdamWArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.w);
        visit(args.m);
        visit(args.v);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.count + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t i = std::uint64_t{block.x()} * kThreads + block.thread();
        if (i >= args.count || (kPass == UpdatePass::kApply && *args.diverged != kNoOperator)) return;
        const arithmetic::AdamWCoefficients& c = args.coefficients;
        const float h = mul_rn(args.g[i], *args.clip);
        const float m = fma_rn(c.beta1, args.m.get(i), mul_rn(c.one_minus_beta1, h));
        const float v = fma_rn(c.beta2, args.v.get(i), mul_rn(mul_rn(c.one_minus_beta2, h), h));
        const float top = mul_rn(m, c.correction1);
        const float root = add_rn(sqrt_rn(mul_rn(v, c.correction2)), c.epsilon);
        const float u =
            kFault == UpdateFault::kReciprocal ? mul_rn(top, div_rn(1.0F, root)) : div_rn(top, root);
        float w = args.w.get(i);
        w = fma_rn(-c.decay, w, w);
        w = fma_rn(-c.learning_rate, u, w);
        if constexpr (kPass != UpdatePass::kApply) {
            const bool finite = is_finite(w) && is_finite(m) && is_finite(v);
            NumberWatch{args.diverged, args.index}.note(block, finite);
        }
        if constexpr (kPass != UpdatePass::kTry) {
            args.w.set(i, w);
            args.m.set(i, m);
            args.v.set(i, v);
        }
    }
};

struct FiniteArgs {
    const float* numbers = nullptr;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;    ///< columns that an operator wrote
    std::uint64_t stride = 0;  ///< from one row to the next
    unsigned* diverged = nullptr;
    unsigned index = 0;  ///< the operator
};

/// A thread checks four numbers; neighbouring threads read neighbouring numbers.
struct FiniteCheck {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kEach = 4;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = FiniteArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args&, const Visit&) {}
    static Grid grid(const Args& args) {
        constexpr unsigned kNumbers = kThreads * kEach;
        return {static_cast<unsigned>((args.rows * args.cols + kNumbers - 1) / kNumbers), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t first = std::uint64_t{block.x()} * kThreads * kEach + block.thread();
        bool finite = true;
        ASSAY_UNROLL
        for (unsigned n = 0; n < kEach; ++n) {
            const std::uint64_t i = first + n * kThreads;
            if (i < args.rows * args.cols) finite = is_finite(args.numbers[place(args, i)]) && finite;
        }
        NumberWatch{args.diverged, args.index}.note(block, finite);
    }

private:
    static ASSAY_SIMT std::uint64_t place(const Args& args, std::uint64_t i) {
        return args.stride == args.cols ? i : i / args.cols * args.stride + i % args.cols;
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
