// SPDX-License-Identifier: Apache-2.0
// What the kernels of fused attention (attention_i16.hpp) get, and which tokens the rows of a warp meet under
// the causal mask.
#pragma once

#include "trainer/cuda/kernels/attention_tiles.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The output that a kernel makes.
enum class AttentionOutput : std::uint8_t {
    kValues,         ///< o, and the maximum and the sum of each row of scores
    kQueryGradient,  ///< dQ, and the dot product of each row of probabilities with their gradient
    kValueGradient,  ///< dV
    kKeyGradient,    ///< dK, by the dot products of kQueryGradient
};

/// What a query has once, whatever it meets.
enum class QueryNumber : std::uint8_t { kMax, kSum, kInverse, kDot };

/// What a mutant does wrong.
enum class AttentionFault : std::uint8_t {
    kNone,
    kOtherTree,        ///< a row's chains are not added in the law's order
    kMissingBarrier,   ///< tokens are overwritten while other threads still read them
    kWholeMaximum,     ///< a masked probability takes part in a maximum
    kForgottenMember,  ///< the last of the query heads that share keys is left out
};

/// Digits of q, k, v and dO have one line for each token, of at most 64 numbers in one block. `numbers` has
/// one line for each number of a head along blocks of 128 tokens, of v, k, dO or q in the order of
/// AttentionOutput. `max`, `sum`, `dot` and `inverse` are indexed by query head and token.
struct AttentionI16Args {
    Digits q, k, v, d_o;
    Digits numbers;
    unsigned tokens = 0;
    unsigned heads = 1, sharing = 1;  ///< query heads of a sequence; query heads that share keys
    float scale = 1.0F;
    OutputArray<float> max, sum;  ///< kValues writes them, the others read them
    OutputArray<float> dot;       ///< kQueryGradient writes it, kKeyGradient reads it
    OutputArray<float> inverse;   ///< 1 / sum: kQueryGradient writes it, the later ones read it
    OutputArray<float> c;
    OperandPlace to;     ///< of a query head's output, or of a key head's
    NumberWatch scores;  ///< kValues
    NumberWatch slopes;  ///< kQueryGradient: of the probabilities' gradient
    NumberWatch dots;    ///< kQueryGradient
    NumberWatch after;   ///< kQueryGradient: of the scores' gradient
    NumberWatch watch;   ///< of what is written to c
};

/// A warp's rows, and the blocks of other tokens that they meet.
template <AttentionOutput kOutput>
struct AttentionRows {
    using Args = AttentionI16Args;
    // Rows are keys, and the other tokens queries.
    static constexpr bool kTurned =
        kOutput == AttentionOutput::kValueGradient || kOutput == AttentionOutput::kKeyGradient;
    // The product's left operand is the scores' gradient, not probabilities.
    static constexpr bool kSlopes =
        kOutput == AttentionOutput::kQueryGradient || kOutput == AttentionOutput::kKeyGradient;

    attention::RowDigits digits, slopes;  // of the scores' product, and of the probabilities' gradient's
    unsigned first, own;                  // of the warp; the lane's upper row
    unsigned begin, end;                  // blocks of tokens that the block meets
    unsigned query, key;                  // matrices
    float max[2], sum[2], inverse[2];     // of the lane's rows: kValues

    ASSAY_SIMT AttentionRows(const SimtBlock& block, const Args& args) {
        // Long rows first, so that a card is busy until the end.
        const unsigned tiles = (args.tokens + attention::kRows - 1) / attention::kRows;
        const unsigned tile = kTurned ? block.x() : tiles - 1 - block.x();
        first = tile * attention::kRows + block.warp() * 16;
        own = first + block.lane() / 4;
        begin = kTurned ? tile * attention::kRows / attention::kBlock : 0;
        end = kTurned ? (args.tokens + attention::kBlock - 1) / attention::kBlock
                      : tile * attention::kRows / attention::kBlock + 1;
        query = block.z();
        key = kTurned ? block.z() : args.k.matrix(block.z());
        digits.load(block, kTurned ? args.k : args.q, kTurned ? key : query, first);
        if constexpr (kSlopes) slopes.load(block, kTurned ? args.v : args.d_o, kTurned ? key : query, first);
    }
    // Chooses the query head among those that share the rows' keys.
    ASSAY_SIMT void choose(const SimtBlock& block, const Args& args, unsigned member) {
        if (!kTurned) return;
        const unsigned keys = args.heads / args.sharing;
        query = block.z() / keys * args.heads + block.z() % keys * args.sharing + member;
    }
    // Whether some row of the warp meets some token of the step that begins with `token`. Steps begin at
    // multiples of 32 and warps at multiples of 16.
    [[nodiscard]] ASSAY_SIMT bool meets(const Args& args, unsigned token) const {
        if (kTurned) return token + attention::kStep > first && token < args.tokens && first < args.tokens;
        return token <= first && first < args.tokens;
    }
    // Whether every row of the warp meets every token of the step.
    [[nodiscard]] ASSAY_SIMT bool meets_all(const Args& args, unsigned token) const {
        if (first + 16 > args.tokens) return false;
        if (kTurned) return token >= first + 15 && token + attention::kStep <= args.tokens;
        return token + attention::kStep <= first + 1;
    }

    // Calls work(across, i, row, n, met) for the lane's numbers of a step: number [across][i] is of row `row`
    // and token n, and `met` tells whether the row meets the token.
    template <class Work>
    ASSAY_SIMT void each_number(const SimtBlock& block, const Args& args, unsigned b, unsigned step,
                                const Work& work) const {
        const Met met(block, args, *this, b * attention::kBlock + step * attention::kStep);
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const unsigned row = attention::row_at(i), n = attention::token_at(across, i);
            work(across, i, row, n, met.has(row, n));
        }
    }
    // Calls work(across, i, row, n) for those whose row meets the token.
    template <class Work>
    ASSAY_SIMT void each_met(const SimtBlock& block, const Args& args, unsigned b, unsigned step,
                             const Work& work) const {
        each_number(block, args, b, step,
                    [&](unsigned across, unsigned i, unsigned row, unsigned n, bool met) {
                        if (met) work(across, i, row, n);
                    });
    }
    // The same in a step that is not `whole`; in a whole one all are met.
    template <class Work>
    ASSAY_SIMT void each_met(const SimtBlock& block, const Args& args, unsigned b, unsigned step, bool whole,
                             const Work& work) const {
        if (whole) {
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at)
                work(at / 4, at % 4, attention::row_at(at % 4), attention::token_at(at / 4, at % 4));
        } else {
            each_met(block, args, b, step, work);
        }
    }
    // Makes numbers of a step that is not `whole` zero if their row does not meet the token.
    ASSAY_SIMT void mask(const SimtBlock& block, const Args& args, unsigned b, unsigned step, bool whole,
                         attention::LaneNumbers& made, float masked = 0.0F) const {
        if (whole) return;
        each_number(block, args, b, step, [&](unsigned across, unsigned i, unsigned, unsigned, bool met) {
            if (!met) made[across][i] = masked;
        });
    }

    // Stores the sums of the lane's rows. For a short code they go through memory.
    ASSAY_SIMT void store(const SimtBlock& block, const Args& args, attention::HeldNumbers& held,
                          const attention::HeadSums& sums) const {
        const std::uint64_t matrix = args.to.matrix(block.z());
        ASSAY_UNROLL
        for (unsigned across = 0; across < attention::kNumbers / 8; ++across) {
            const float(&four)[4] = sums[across];
            held[across][block.thread()] = {{four[0], four[1], four[2], four[3]}};
        }
        AllFinite finite;
        ASSAY_NO_UNROLL
        for (unsigned across = 0; across < attention::kNumbers / 8; ++across) {
            const attention::FourNumbers four = held[across][block.thread()];
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned row = own + 8 * attention::row_at(i);
                const unsigned number = attention::number_at(block.lane(), across, i);
                finite.see(four.of[i]);  // zero, if nobody stores it
                if (row < args.tokens && number < args.numbers.place.lines)
                    args.c.set(matrix + args.to.element(row, number), four.of[i]);
            }
        }
        args.watch.note(block, finite.found());
    }

private:
    // The tokens of a lane's step that its rows meet: `count` of them from `low` on, by next_in_step.
    struct Met {
        int low[2];
        unsigned count[2];

        ASSAY_SIMT Met(const SimtBlock& block, const Args& args, const AttentionRows& rows,
                       unsigned first_token) {
            const int first = static_cast<int>(first_token + attention::first_in_step(block.lane()));
            const int tokens = static_cast<int>(args.tokens);
            ASSAY_UNROLL
            for (unsigned row = 0; row < 2; ++row) {
                const int own = static_cast<int>(rows.own + 8 * row);
                const int begin = kTurned ? own : 0, end = kTurned ? tokens : own < tokens ? own + 1 : 0;
                low[row] = begin - first;
                count[row] = begin < end ? static_cast<unsigned>(end - begin) : 0U;
            }
        }
        [[nodiscard]] ASSAY_SIMT bool has(unsigned row, unsigned n) const {
            return static_cast<unsigned>(static_cast<int>(attention::next_in_step(n)) - low[row]) <
                   count[row];
        }
    };
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
