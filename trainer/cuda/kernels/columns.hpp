// SPDX-License-Identifier: Apache-2.0
// Gives devices the gradients that are sums over tokens, a chain within a sequence and then over sequences:
// of biases and of norms' parameters (contracts/arithmetic/product.hpp, layer_norm.hpp, rms_norm.hpp), of
// embeddings (embedding.hpp), and the loss (loss.hpp). A thread has a column; no atomics.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/number_watch.hpp"
#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Which sum a ColumnChains kernel makes.
enum class ColumnKind : std::uint8_t { kBias, kLayerNorm, kRmsNorm };

/// What a mutant does wrong.
enum class ColumnFault : std::uint8_t {
    kNone,
    kOneChain,      ///< it goes on from one sequence to the next without an addition of its own
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
    OutputArray<float> gains;   ///< [sequences, cols]; of a layer norm also biases
    OutputArray<float> biases;  ///< the same
    NumberWatch watch;          ///< of the gradients that they are added to
};

/// The chains within sequences. A thread reads some rows ahead of the chain: there are too few columns for
/// other threads to hide the time that memory takes. Grid: columns, sequences.
template <ColumnKind kKind, ColumnFault kFault = ColumnFault::kNone>
struct ColumnChains {
    static constexpr unsigned kThreads = 64;
    static constexpr unsigned kAhead = 16;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = ColumnArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.gains);
        visit(args.biases);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.cols + kThreads - 1) / kThreads),
                static_cast<unsigned>(args.sequences), 1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t column = std::uint64_t{block.x()} * kThreads + block.thread();
        if (column >= args.cols) return;
        const std::uint64_t first = block.y() * args.context;
        float gain = 0.0F, bias = 0.0F;
        for (std::uint64_t row = first; row < first + args.context; row += kAhead) {
            const std::uint64_t rest = first + args.context - row;
            float dy[kAhead], normal[kAhead];
            ASSAY_UNROLL
            for (unsigned n = 0; n < kAhead; ++n) {
                if (n >= rest) continue;
                dy[n] = args.dy[(row + n) * args.cols + column];
                if constexpr (kKind != ColumnKind::kBias) normal[n] = normal_at(args, row + n, column);
            }
            ASSAY_UNROLL
            for (unsigned n = 0; n < kAhead; ++n) {
                if (n >= rest) continue;
                if constexpr (kKind != ColumnKind::kBias) gain = next(dy[n], normal[n], gain);
                if constexpr (kKind != ColumnKind::kRmsNorm) bias = add_rn(bias, dy[n]);
            }
        }
        const std::uint64_t to = block.y() * args.cols + column;
        if constexpr (kKind != ColumnKind::kBias) args.gains.set(to, gain);
        if constexpr (kKind != ColumnKind::kRmsNorm) args.biases.set(to, bias);
    }

private:
    static ASSAY_SIMT float normal_at(const Args& args, std::uint64_t row, std::uint64_t column) {
        const float x = args.x[row * args.cols + column];
        if constexpr (kKind == ColumnKind::kRmsNorm) return mul_rn(x, args.rstd[row]);
        return mul_rn(sub_rn(x, args.mean[row]), args.rstd[row]);
    }
    static ASSAY_SIMT float next(float dy, float x, float sum) {
        return kFault == ColumnFault::kTwoRoundings ? add_rn(sum, mul_rn(dy, x)) : fma_rn(dy, x, sum);
    }
};

struct CombineArgs {
    std::uint64_t sequences = 0;
    std::uint64_t cols = 0;
    const float* sums = nullptr;  ///< [sequences, cols]
    OutputArray<float> out;       ///< [cols]; goes on from what it holds
    NumberWatch watch;
};

/// The chain over sequences. Grid: columns.
struct ColumnCombine {
    static constexpr unsigned kThreads = 128;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = CombineArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.cols + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t column = std::uint64_t{block.x()} * kThreads + block.thread();
        if (column >= args.cols) return;
        float sum = args.out.get(column);
        for (std::uint64_t s = 0; s < args.sequences; ++s)
            sum = add_rn(sum, args.sums[s * args.cols + column]);
        args.out.set(column, sum);
        args.watch.note(block, is_finite(sum));
    }
};

struct EmbeddingGradientArgs {
    std::uint64_t context = 0;
    std::uint64_t cols = 0;
    std::uint64_t tokens = 0;               ///< different ones
    const std::uint32_t* token = nullptr;   ///< [tokens]: its row of `out`
    const std::uint32_t* first = nullptr;   ///< [tokens + 1]: its places in `places`
    const std::uint32_t* places = nullptr;  ///< rows of dx, ascending for each token
    const float* dx = nullptr;
    OutputArray<float> out;  ///< rows of tokens; goes on from what they hold
    NumberWatch watch;
};

/// Rows of the tokens that occur: a chain over a token's places in a sequence, then over sequences. Grid:
/// columns, tokens.
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
    OutputArray<float> sum;                 ///< [words, cols]; before: the gradient by the head
    NumberWatch head;                       ///< of what it held
    NumberWatch watch;
};

inline constexpr std::uint32_t kNoRow = 0xffffffffU;

/// sum + the embedding's gradient, which is +0 where a word does not occur: adding it still turns −0 into +0.
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
    OutputArray<float> total;  ///< of the step so far; goes on from what it holds
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
