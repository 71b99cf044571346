// SPDX-License-Identifier: Apache-2.0
// Sums over tokens, as a chain within each sequence and then over sequences: gradients of biases and of
// norms' parameters (contracts/arithmetic/product.hpp, layer_norm.hpp, rms_norm.hpp) and of embeddings
// (embedding.hpp), and the loss (loss.hpp). Each thread has a column; no atomics.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/number_watch.hpp"
#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The sum that a ColumnChains kernel makes.
enum class ColumnKind : std::uint8_t { kBias, kLayerNorm, kRmsNorm };

/// What a mutant does wrong.
enum class ColumnFault : std::uint8_t {
    kNone,
    kOneChain,  ///< it continues a chain from one sequence to the next instead of adding the sequences' sums
    kTwoRoundings,  ///< it rounds a term before it adds it
};

struct ColumnArgs {
    std::uint64_t sequences = 0;
    std::uint64_t context = 0;
    std::uint64_t cols = 0;
    const float* dy = nullptr;
    const float* x = nullptr;
    const float* mean = nullptr;
    const float* rstd = nullptr;
    OutputArray<float> gains;   ///< [sequences, cols]; unused by kBias
    OutputArray<float> biases;  ///< [sequences, cols]; unused by kRmsNorm
    NumberWatch watch;          ///< watches the gradients to which they are added
};

/// The chains within sequences. One warp of a block makes the chains of 32 columns; the others only copy rows
/// ahead of it to shared memory, since there are too few columns to hide the latency of memory. Grid: columns
/// in thirty-twos, sequences.
template <ColumnKind kKind, ColumnFault kFault = ColumnFault::kNone>
struct ColumnChains {
    static constexpr unsigned kWarps = 4;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = true;
    static constexpr unsigned kRows = 32;   // of a stage
    static constexpr unsigned kStages = 4;  // used in turn; all but one are copied ahead
    static constexpr bool kIsNorm = kKind != ColumnKind::kBias;
    using Args = ColumnArgs;
    struct Shared {
        float dy[kStages][kRows][kWarp];
        float x[kIsNorm ? kStages : 1][kRows][kWarp];
        float mean[kStages][kRows];
        float rstd[kStages][kRows];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.gains);
        visit(args.biases);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.cols + kWarp - 1) / kWarp), static_cast<unsigned>(args.sequences),
                1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t column = std::uint64_t{block.x()} * kWarp + block.lane();
        const std::uint64_t stages = (args.context + kRows - 1) / kRows;
        for (unsigned ahead = 0; ahead + 1 < kStages; ++ahead) copy(block, args, ahead);
        Sums sums;
        for (std::uint64_t stage = 0; stage < stages; ++stage) {
            copy(block, args, stage + kStages - 1);
            block.template wait_copies<kStages - 1>();
            block.sync();
            const std::uint64_t rest = args.context - stage * kRows;
            if (block.warp() == 0) add(block, stage % kStages, rest < kRows ? rest : kRows, sums);
            block.sync();
        }
        block.template wait_copies<0>();
        if (block.warp() != 0 || column >= args.cols) return;
        const std::uint64_t to = block.y() * args.cols + column;
        if constexpr (kIsNorm) args.gains.set(to, sums.gain);
        if constexpr (kKind != ColumnKind::kRmsNorm) args.biases.set(to, sums.bias);
    }

private:
    struct Sums {
        float gain = 0.0F, bias = 0.0F;
    };

    // Copies the rows of a stage, if there is one.
    static ASSAY_SIMT void copy(const SimtBlock& block, const Args& args, std::uint64_t stage) {
        Shared& shared = block.template shared<Shared>();
        const std::uint64_t first = stage * kRows, start = block.y() * args.context + first;
        const std::uint64_t column = std::uint64_t{block.x()} * kWarp + block.lane();
        const unsigned turn = stage % kStages;
        if (first < args.context) {
            ASSAY_UNROLL
            for (unsigned row = block.warp(); row < kRows; row += kWarps) {
                const bool valid = column < args.cols && first + row < args.context;
                const std::uint64_t at = valid ? (start + row) * args.cols + column : 0;
                block.copy4(&shared.dy[turn][row][block.lane()], args.dy + at, valid);
                if constexpr (kIsNorm) block.copy4(&shared.x[turn][row][block.lane()], args.x + at, valid);
            }
            if (kIsNorm && block.warp() == 0) {
                const bool valid = first + block.lane() < args.context;
                const std::uint64_t at = valid ? start + block.lane() : 0;
                block.copy4(&shared.rstd[turn][block.lane()], args.rstd + at, valid);
                if constexpr (kKind == ColumnKind::kLayerNorm)
                    block.copy4(&shared.mean[turn][block.lane()], args.mean + at, valid);
            }
        }
        block.commit_copies();
    }

    static ASSAY_SIMT void add(const SimtBlock& block, unsigned turn, std::uint64_t rows, Sums& sums) {
        if (rows == kRows) {
            ASSAY_UNROLL
            for (unsigned row = 0; row < kRows; ++row) add_row(block, turn, row, sums);
        } else {
            for (unsigned row = 0; row < rows; ++row) add_row(block, turn, row, sums);
        }
    }

    static ASSAY_SIMT void add_row(const SimtBlock& block, unsigned turn, unsigned row, Sums& sums) {
        const Shared& shared = block.template shared<Shared>();
        const float dy = shared.dy[turn][row][block.lane()];
        if constexpr (kIsNorm) {
            float normal = shared.x[turn][row][block.lane()];
            if constexpr (kKind == ColumnKind::kLayerNorm) normal = sub_rn(normal, shared.mean[turn][row]);
            sums.gain = next(dy, mul_rn(normal, shared.rstd[turn][row]), sums.gain);
        }
        if constexpr (kKind != ColumnKind::kRmsNorm) sums.bias = add_rn(sums.bias, dy);
    }
    static ASSAY_SIMT float next(float dy, float x, float sum) {
        return kFault == ColumnFault::kTwoRoundings ? add_rn(sum, mul_rn(dy, x)) : fma_rn(dy, x, sum);
    }
};

struct CombineArgs {
    std::uint64_t sequences = 0;
    std::uint64_t cols = 0;
    const float* sums = nullptr;  ///< [sequences, cols]
    OutputArray<float> out;       ///< [cols]; its content begins the chain
    NumberWatch watch;
    const float* other_sums = nullptr;  ///< the same for other sums; null: there are none
    OutputArray<float> other;
};

/// The chain over sequences. Grid: columns, sums.
struct ColumnCombine {
    static constexpr unsigned kThreads = 128;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = CombineArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
        visit(args.other);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.cols + kThreads - 1) / kThreads),
                args.other_sums != nullptr ? 2U : 1U, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t column = std::uint64_t{block.x()} * kThreads + block.thread();
        if (column >= args.cols) return;
        const OutputArray<float>& out = block.y() == 0 ? args.out : args.other;
        const float* const sums = block.y() == 0 ? args.sums : args.other_sums;
        float sum = out.get(column);
        ASSAY_UNROLL_BY(8)
        for (std::uint64_t s = 0; s < args.sequences; ++s) sum = add_rn(sum, sums[s * args.cols + column]);
        out.set(column, sum);
        args.watch.note(block, is_finite(sum));
    }
};

struct EmbeddingGradientArgs {
    std::uint64_t context = 0;
    std::uint64_t cols = 0;
    std::uint64_t tokens = 0;               ///< number of different tokens
    const std::uint32_t* token = nullptr;   ///< [tokens]: a token's row of `out`
    const std::uint32_t* first = nullptr;   ///< [tokens + 1]: where a token's places begin in `places`
    const std::uint32_t* places = nullptr;  ///< rows of dx, ascending for each token
    const float* dx = nullptr;
    OutputArray<float> out;  ///< rows of tokens; their content begins the chains
    NumberWatch watch;
};

/// Gradients of the rows of tokens that occur: a chain over a token's places in each sequence, then over
/// sequences. Grid: columns, tokens.
template <ColumnFault kFault = ColumnFault::kNone>
struct EmbeddingGradient {
    static constexpr unsigned kThreads = 128;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = EmbeddingGradientArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.cols + kThreads - 1) / kThreads),
                static_cast<unsigned>(args.tokens), 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t column = std::uint64_t{block.x()} * kThreads + block.thread();
        if (column >= args.cols) return;
        const std::uint64_t to = args.token[block.y()] * args.cols + column;
        float total = args.out.get(to), sum = 0.0F;
        const std::uint32_t end = args.first[block.y() + 1];
        for (std::uint32_t i = args.first[block.y()]; i < end; ++i) {
            sum = add_rn(sum, args.dx[args.places[i] * args.cols + column]);
            const bool last =
                i + 1 == end || args.places[i] / args.context != args.places[i + 1] / args.context;
            if (!last || (kFault == ColumnFault::kOneChain && i + 1 != end)) continue;
            total = add_rn(total, sum);
            sum = 0.0F;
        }
        args.out.set(to, total);
        args.watch.note(block, is_finite(total));
    }
};

struct TiedRowsArgs {
    std::uint64_t words = 0;
    std::uint64_t cols = 0;
    const float* rows = nullptr;            ///< gradients by the embedding: a row for each token that occurs
    const std::uint32_t* row_of = nullptr;  ///< [words]: a word's row; kNoRow where it does not occur
    OutputArray<float> sum;                 ///< [words, cols]; on input the gradient by the head
    NumberWatch head;                       ///< watches `sum` on input
    NumberWatch watch;
};

inline constexpr std::uint32_t kNoRow = 0xffffffffU;

/// sum + the embedding's gradient. That is +0 for a word that does not occur, and still turns −0 into +0.
/// Grid: numbers.
struct TiedRows {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = TiedRowsArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.sum);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.words * args.cols + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t i = std::uint64_t{block.x()} * kThreads + block.thread();
        if (i >= args.words * args.cols) return;
        const std::uint32_t row = args.row_of[i / args.cols];
        const float by_head = args.sum.get(i);
        const float sum = add_rn(by_head, row == kNoRow ? 0.0F : args.rows[row * args.cols + i % args.cols]);
        args.sum.set(i, sum);
        args.head.note(block, is_finite(by_head));
        args.watch.note(block, is_finite(sum));
    }
};

struct LossTotalArgs {
    std::uint64_t sequences = 0;
    std::uint64_t context = 0;
    const float* losses = nullptr;
    OutputArray<float> sums;   ///< [sequences]
    OutputArray<float> total;  ///< of the step so far; its content begins the chain
    OutputArray<float> loss;   ///< total · reciprocal
    float reciprocal = 0;
    NumberWatch watch;  ///< of the loss
};

/// The loss: a chain within each sequence, then over sequences. One block.
template <ColumnFault kFault = ColumnFault::kNone>
struct LossTotal {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = true;
    using Args = LossTotalArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.sums);
        visit(args.total);
        visit(args.loss);
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        for (std::uint64_t s = block.thread(); s < args.sequences; s += kThreads) {
            float sum = 0.0F;
            for (std::uint64_t t = 0; t < args.context; ++t)
                sum = add_rn(sum, args.losses[s * args.context + t]);
            args.sums.set(s, sum);
        }
        block.sync();
        if (block.thread() != 0) return;
        float total = args.total.get(0);
        for (std::uint64_t s = 0; s < args.sequences; ++s) total = add_rn(total, args.sums.get(s));
        if constexpr (kFault == ColumnFault::kOneChain) {
            total = args.total.get(0);
            for (std::uint64_t t = 0; t < args.sequences * args.context; ++t)
                total = add_rn(total, args.losses[t]);
        }
        args.total.set(0, total);
        const float loss = mul_rn(total, args.reciprocal);
        args.loss.set(0, loss);
        args.watch.note(block, is_finite(loss));
    }
};

struct LossTokensArgs {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    const float* logits = nullptr;
    const float* max = nullptr;
    const float* sum = nullptr;
    const std::uint32_t* targets = nullptr;
    OutputArray<float> out;
    NumberWatch watch;
};

/// loss[t] = log(sum[t]) − (logits[t, target[t]] − max[t]). Grid: rows.
struct LossTokens {
    static constexpr unsigned kThreads = 128;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = LossTokensArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.rows + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t row = std::uint64_t{block.x()} * kThreads + block.thread();
        if (row >= args.rows) return;
        const float logit = args.logits[row * args.cols + args.targets[row]];
        const float loss = sub_rn(log32(args.sum[row]), sub_rn(logit, args.max[row]));
        args.out.set(row, loss);
        args.watch.note(block, is_finite(loss));
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
