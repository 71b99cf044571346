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

/// A gradient whose tiles are squared.
struct SquareMatrix {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    const float* g = nullptr;
    std::uint64_t first = 0;  ///< where the sums of its tiles begin
    unsigned index = 0;       ///< the operator that wrote it
    unsigned begin = 0;       ///< the kernel's block where it begins; square_tiles() sets it
};

/// Many matrices are small: a launch works on several.
struct SquareTilesArgs {
    static constexpr unsigned kMost = 64;
    unsigned count = 0;
    SquareMatrix matrices[kMost];
    unsigned* diverged = nullptr;  ///< notes operators of matrices whose numbers are not all finite; or null
    OutputArray<float> sums;       ///< one number for each tile of 16×16
};

/// The last of `count` things in order of their begin that begins at or before `at`. REQUIRES one that does.
template <class BeginOf>
ASSAY_SIMT unsigned last_begun(unsigned count, unsigned at, const BeginOf& begin_of) {
    unsigned first = 0;
    while (count > 1) {
        const unsigned half = count / 2;
        if (begin_of(first + half) <= at) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return first;
}

/// A warp has 32 tiles, one after another. It copies their rows to shared memory as they lie in memory; each
/// lane has a tile's chain. Grid: the matrices' tiles in thirty-twos.
struct SquareTiles {
    static constexpr unsigned kThreads = kWarp;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = true;
    static constexpr unsigned kSide = 16;
    using Args = SquareTilesArgs;
    struct Shared {
        alignas(16) float numbers[kSide][kWarp * kSide];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.sums);
    }
    static ASSAY_BOTH std::uint64_t across(const SquareMatrix& matrix) {
        return (matrix.cols + kSide - 1) / kSide;
    }
    static ASSAY_BOTH std::uint64_t tiles(const SquareMatrix& matrix) {
        return (matrix.rows + kSide - 1) / kSide * across(matrix);
    }
    static unsigned blocks(const SquareMatrix& matrix) {
        return static_cast<unsigned>((tiles(matrix) + kWarp - 1) / kWarp);
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const unsigned at =
            last_begun(args.count, block.x(), [&](unsigned i) { return args.matrices[i].begin; });
        const SquareMatrix& matrix = args.matrices[at];
        const std::uint64_t first = std::uint64_t{block.x() - matrix.begin} * kWarp;
        const std::uint64_t rest = matrix.rows - first / across(matrix) * kSide;
        const unsigned rows = rest < kSide ? static_cast<unsigned>(rest) : kSide;  // no later tile has more
        if (matrix.cols % 4 == 0 && is_aligned16(matrix.g)) {
            copy<true>(block, matrix, first, rows);
        } else {
            copy<false>(block, matrix, first, rows);
        }
        block.commit_copies();
        block.template wait_copies<0>();
        block.sync();
        float sum = 0.0F;
        ASSAY_UNROLL_BY(4)
        for (unsigned row = 0; row < rows; ++row) {
            ASSAY_UNROLL
            for (unsigned quad = 0; quad < kSide / 4; ++quad) {
                float g[4];
                load4(place(block, row, block.lane(), quad), g);
                // What lies beyond the matrix is +0, which changes no sum of squares.
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i) sum = fma_rn(g[i], g[i], sum);
            }
        }
        if (first + block.lane() >= tiles(matrix)) return;
        args.sums.set(matrix.first + first + block.lane(), sum);
        // A sum of squares is finite only if all numbers are.
        if (!is_finite(sum)) NumberWatch{args.diverged, matrix.index}.note(block, all_finite(block, rows));
    }

private:
    // Pieces of four numbers change places, so that eight lanes read theirs from different banks.
    static ASSAY_SIMT float* place(const SimtBlock& block, unsigned row, unsigned tile, unsigned quad) {
        return &block.template shared<Shared>().numbers[row][tile * kSide + (quad ^ tile / 2 % 4) * 4];
    }

    // kWhole: quads lie at addresses of 16 bytes and do not cross the matrix's border.
    template <bool kWhole>
    static ASSAY_SIMT void copy(const SimtBlock& block, const SquareMatrix& matrix, std::uint64_t first,
                                unsigned rows) {
        const auto width = static_cast<std::uint32_t>(across(matrix));
        const std::uint64_t down = first / across(matrix);
        const auto right = static_cast<std::uint32_t>(first % across(matrix));
        ASSAY_NO_UNROLL
        for (unsigned n = 0; n < kSide / 4; ++n) {
            // Neighbouring lanes copy neighbouring quads.
            const unsigned tile = n * (kWarp / 4) + block.lane() / 4, quad = block.lane() % 4;
            const std::uint64_t top = (down + (right + tile) / width) * kSide;
            const std::uint64_t left = std::uint64_t{(right + tile) % width} * kSide + quad * 4;
            const float* from = matrix.g + top * matrix.cols + left;
            ASSAY_UNROLL_BY(kWhole ? 8 : 1)
            for (unsigned row = 0; row < rows; ++row, from += matrix.cols) {
                float* const to = place(block, row, tile, quad);
                const bool exists = top + row < matrix.rows;
                if constexpr (kWhole) {
                    const bool valid = exists && left < matrix.cols;
                    block.copy16(to, valid ? from : matrix.g, valid);
                } else {
                    for (unsigned i = 0; i < 4; ++i) {
                        const bool valid = exists && left + i < matrix.cols;
                        block.copy4(to + i, valid ? from + i : matrix.g, valid);
                    }
                }
            }
        }
    }

    static ASSAY_SIMT bool all_finite(const SimtBlock& block, unsigned rows) {
        AllFinite finite;
        for (unsigned row = 0; row < rows; ++row) {
            for (unsigned i = 0; i < kSide; ++i) finite.see(place(block, row, block.lane(), i / 4)[i % 4]);
        }
        return finite.found();
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

/// Many tensors are small: a launch works on several.
struct AdamWTable {
    static constexpr unsigned kMost = 24;
    unsigned count = 0;
    unsigned begin[kMost] = {};  ///< the kernel's block where a tensor begins; adamw() sets it
    AdamWArgs tensors[kMost];
};

/// kTry: checks that the update would be finite, and writes nothing. kApply: writes the update if every
/// number of the step, those of the update included, was finite. kAlways: writes the update and checks it.
enum class UpdatePass : std::uint8_t { kTry, kApply, kAlways };

/// What a mutant of AdamW does wrong: it multiplies by a reciprocal.
enum class UpdateFault : std::uint8_t { kNone, kReciprocal };

/// Eight numbers for each thread. Grid: the tensors' numbers in blocks of 2,048.
template <UpdatePass kPass, UpdateFault kFault = UpdateFault::kNone>
struct AdamW {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kEach = 8;
    static constexpr unsigned kNumbers = kThreads * kEach;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = AdamWTable;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        for (unsigned i = 0; i < args.count; ++i) {
            visit(args.tensors[i].w);
            visit(args.tensors[i].m);
            visit(args.tensors[i].v);
        }
    }
    static unsigned blocks(const AdamWArgs& tensor) {
        return static_cast<unsigned>((tensor.count + kNumbers - 1) / kNumbers);
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& table) {
        const unsigned at = last_begun(table.count, block.x(), [&](unsigned i) { return table.begin[i]; });
        const AdamWArgs& args = table.tensors[at];
        const std::uint64_t first = std::uint64_t{block.x() - table.begin[at]} * kNumbers;
        const bool whole = first + kNumbers <= args.count && is_aligned16(args.g) &&
                           is_aligned16(args.w.data) && is_aligned16(args.m.data) &&
                           is_aligned16(args.v.data);
        const bool finite = whole ? quads(block, args, first) : numbers(block, args, first);
        if constexpr (kPass != UpdatePass::kApply) NumberWatch{args.diverged, args.index}.note(block, finite);
    }

private:
    // A number's gradient, and what becomes new.
    struct Own {
        float g, w, m, v;
    };

    // These functions return whether what becomes new is finite; kApply does not ask.

    static ASSAY_SIMT bool numbers(const SimtBlock& block, const AdamWArgs& args, std::uint64_t first) {
        if (kPass == UpdatePass::kApply && *args.diverged != kNoOperator) return false;
        bool finite = true;
        for (unsigned n = 0; n < kEach; ++n) {
            const std::uint64_t i = first + n * kThreads + block.thread();
            if (i >= args.count) break;
            Own own[1] = {{args.g[i], args.w.get(i), args.m.get(i), args.v.get(i)}};
            finite = renew(args.coefficients, *args.clip, own) && finite;
            if constexpr (kPass != UpdatePass::kTry) {
                args.w.set(i, own[0].w);
                args.m.set(i, own[0].m);
                args.v.set(i, own[0].v);
            }
        }
        return finite;
    }

    static ASSAY_SIMT bool quads(const SimtBlock& block, const AdamWArgs& args, std::uint64_t first) {
        constexpr unsigned kQuads = kEach / 4;
        float g[kQuads][4], w[kQuads][4], m[kQuads][4], v[kQuads][4];
        ASSAY_UNROLL
        for (unsigned n = 0; n < kQuads; ++n) {
            const std::uint64_t i = first + 4 * (n * kThreads + block.thread());
            load4(args.g + i, g[n]);
            load4(args.w.data + i, w[n]);
            load4(args.m.data + i, m[n]);
            load4(args.v.data + i, v[n]);
        }
        // After the loads, which need not wait for it.
        if (kPass == UpdatePass::kApply && *args.diverged != kNoOperator) return false;
        bool finite = true;
        ASSAY_UNROLL
        for (unsigned n = 0; n < kQuads; ++n) {
            Own own[4];
            ASSAY_UNROLL
            for (unsigned k = 0; k < 4; ++k) own[k] = {g[n][k], w[n][k], m[n][k], v[n][k]};
            finite = renew(args.coefficients, *args.clip, own) && finite;
            if constexpr (kPass != UpdatePass::kTry) {
                const std::uint64_t i = first + 4 * (n * kThreads + block.thread());
                args.w.set4(i, {own[0].w, own[1].w, own[2].w, own[3].w});
                args.m.set4(i, {own[0].m, own[1].m, own[2].m, own[3].m});
                args.v.set4(i, {own[0].v, own[1].v, own[2].v, own[3].v});
            }
        }
        return finite;
    }

    template <unsigned count>
    static ASSAY_SIMT bool renew(const arithmetic::AdamWCoefficients& c, float clip, Own (&own)[count]) {
        bool finite = kPass == UpdatePass::kTry && is_tame(c);
        ASSAY_UNROLL
        for (unsigned k = 0; k < count; ++k) {
            Own& one = own[k];
            const float h = mul_rn(one.g, clip);
            one.m = fma_rn(c.beta1, one.m, mul_rn(c.one_minus_beta1, h));
            one.v = fma_rn(c.beta2, one.v, mul_rn(mul_rn(c.one_minus_beta2, h), h));
            if constexpr (kPass == UpdatePass::kTry) finite = is_tame(one) && finite;
        }
        if (finite) return true;
        finite = true;
        ASSAY_UNROLL
        for (unsigned k = 0; k < count; ++k) {
            Own& one = own[k];
            const float top = mul_rn(one.m, c.correction1);
            const float root = add_rn(sqrt_rn(mul_rn(one.v, c.correction2)), c.epsilon);
            const float u =
                kFault == UpdateFault::kReciprocal ? mul_rn(top, div_rn(1.0F, root)) : div_rn(top, root);
            one.w = fma_rn(-c.decay, one.w, one.w);
            one.w = fma_rn(-c.learning_rate, u, one.w);
            if constexpr (kPass != UpdatePass::kApply)
                finite = finite && is_finite(one.w) && is_finite(one.m) && is_finite(one.v);
        }
        return finite;
    }

    // Coefficients and numbers of which kTry need not compute the update to know that it is finite: with
    // these limits top is at most 2^60, root at least 2^-40 (or infinite), u at most 2^100, w after the decay
    // at most 2^71 and after the update less than 2^111. Of a NaN nothing is true.
    static ASSAY_SIMT bool is_tame(const arithmetic::AdamWCoefficients& c) {
        return c.correction1 >= 0.0F && c.correction1 <= 0x1p20F && c.correction2 >= 0.0F &&
               is_finite(c.correction2) && c.epsilon >= 0x1p-40F && is_within(c.learning_rate, 0x1p10F) &&
               is_within(c.decay, 0x1p10F);
    }
    static ASSAY_SIMT bool is_tame(const Own& one) {
        return is_within(one.m, 0x1p40F) && is_within(one.w, 0x1p60F) && one.v >= 0.0F && is_finite(one.v);
    }
    static ASSAY_SIMT bool is_within(float x, float limit) { return x >= -limit && x <= limit; }
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
