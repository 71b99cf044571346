// SPDX-License-Identifier: Apache-2.0
// Fused attention of profile i16: one kernel for each of its outputs o, dQ, dV and dK. Its squares never lie
// in memory. Scores are recomputed from digits in near memory wherever they are needed; exact sums are the
// same each time. Numbers and order: contracts/arithmetic/exact_attention.hpp, attention.hpp. It goes along a
// row block by block of tokens like FlashAttention (arXiv 2205.14135), but rescales no sums: the law finds
// the maximum first.
#pragma once

#include <type_traits>

#include "trainer/cuda/kernels/attention_tiles.hpp"
#include "trainer/cuda/kernels/warp_row.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The output that a kernel makes.
enum class AttentionOutput : std::uint8_t {
    kValues,         ///< o, and the maximum and the sum of each row of scores
    kQueryGradient,  ///< dQ, and the dot product of each row of probabilities with their gradient
    kValueGradient,  ///< dV
    kKeyGradient,    ///< dK, by the dot products of kQueryGradient
};

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

/// Grid: 64 rows, 1, query heads of all sequences, or key heads.
template <AttentionOutput kOutput, AttentionFault kFault = AttentionFault::kNone>
struct AttentionI16 {
    // Rows are keys, and the other tokens queries.
    static constexpr bool kTurned =
        kOutput == AttentionOutput::kValueGradient || kOutput == AttentionOutput::kKeyGradient;
    // The product's left operand is the scores' gradient, not probabilities.
    static constexpr bool kSlopes =
        kOutput == AttentionOutput::kQueryGradient || kOutput == AttentionOutput::kKeyGradient;
    static constexpr unsigned kThreads = attention::kWarps * kWarp;
    static constexpr unsigned kBlocks = 2;
    static constexpr bool kWaits = true;
    static constexpr unsigned kTokenTiles = kSlopes ? 2 : 1;
    using Args = AttentionI16Args;
    struct Shared {
        alignas(16) attention::DigitTile tokens[kTokenTiles];
        alignas(16) attention::DigitTile numbers;
        attention::HeldNumbers held;
        // Of 128 queries, where they are the tokens that rows meet.
        struct Queries {
            alignas(16) float max[attention::kBlock], sum[attention::kBlock], inverse[attention::kBlock];
            float dot[attention::kBlock];
        };
        struct Nothing {};
        std::conditional_t<kTurned, Queries, Nothing> queries;
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.c);
        if (kOutput == AttentionOutput::kValues) {
            visit(args.max);
            visit(args.sum);
        }
        if (kOutput == AttentionOutput::kQueryGradient) {
            visit(args.dot);
            visit(args.inverse);
        }
    }
    static Grid grid(const Args& args, unsigned sequences) {
        return {(args.tokens + attention::kRows - 1) / attention::kRows, 1,
                sequences * args.heads / (kTurned ? args.sharing : 1)};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        Rows rows(block, args);
        if constexpr (kOutput == AttentionOutput::kValues) {
            find_max(block, args, rows);
            find_sum(block, args, rows);
        }
        if constexpr (kOutput == AttentionOutput::kQueryGradient) find_dot(block, args, rows);
        attention::HeadSums sums;
        ASSAY_UNROLL
        for (unsigned i = 0; i < attention::kNumbers / 2; ++i) sums[i / 4][i % 4] = 0.0F;
        const unsigned members = kTurned ? args.sharing : 1;
        const unsigned last =
            kFault == AttentionFault::kForgottenMember && members > 1 ? members - 1 : members;
        for (unsigned member = 0; member < last; ++member) {
            rows.choose(block, args, member);
            add_products(block, args, rows, sums);
        }
        store(block, args, rows, sums);
    }

private:
    using LaneNumbers = attention::LaneNumbers;

    // A warp's rows, and the blocks of other tokens that they meet.
    struct Rows {
        attention::RowDigits digits, slopes;  // of the scores' product, and of the probabilities' gradient's
        unsigned first, own;                  // of the warp; the lane's upper row
        unsigned begin, end;                  // blocks of tokens that the block meets
        unsigned query, key;                  // matrices
        float max[2], sum[2], dot[2], inverse[2];  // of the lane's rows, where they are queries

        ASSAY_SIMT Rows(const SimtBlock& block, const Args& args) {
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
            if constexpr (kSlopes)
                slopes.load(block, kTurned ? args.v : args.d_o, kTurned ? key : query, first);
            if constexpr (kOutput == AttentionOutput::kQueryGradient) {
                ASSAY_UNROLL
                for (unsigned row = 0; row < 2; ++row) {
                    const bool exists = own + 8 * row < args.tokens;
                    const std::uint64_t at = std::uint64_t{query} * args.tokens + own + 8 * row;
                    max[row] = exists ? args.max.get(at) : 0.0F;
                    sum[row] = exists ? args.sum.get(at) : 1.0F;
                    inverse[row] = div_rn(1.0F, sum[row]);
                }
            }
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
            if (kTurned)
                return token + attention::kStep > first && token < args.tokens && first < args.tokens;
            return token <= first && first < args.tokens;
        }
    };

    // The tokens of a lane's step that its rows meet: `count` of them from `low` on, by next_in_step.
    struct Met {
        int low[2];
        unsigned count[2];

        ASSAY_SIMT Met(const SimtBlock& block, const Args& args, const Rows& rows, unsigned first_token) {
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

    // The place of the lane's token n of a step in its block of 128.
    static ASSAY_SIMT unsigned in_block(const SimtBlock& block, unsigned step, unsigned n) {
        return step * attention::kStep + attention::first_in_step(block.lane()) + attention::next_in_step(n);
    }

    // Calls work(across, i, row, n) for the lane's numbers of a step whose row meets the token: number
    // [across][i] is of row `row` and token n.
    template <class Work>
    static ASSAY_SIMT void each_met(const SimtBlock& block, const Args& args, const Rows& rows, unsigned b,
                                    unsigned step, const Work& work) {
        const Met met(block, args, rows, b * attention::kBlock + step * attention::kStep);
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const unsigned row = attention::row_at(i), n = attention::token_at(across, i);
            if (met.has(row, n)) work(across, i, row, n);
        }
    }

    // Scores of a step.
    static ASSAY_SIMT void scores(const SimtBlock& block, const Args& args, const Rows& rows,
                                  const attention::DigitTile& tokens, unsigned step, LaneNumbers& made) {
        attention::multiply_step(block, rows.digits, tokens, step, made);
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) made[at / 4][at % 4] = mul_rn(made[at / 4][at % 4], args.scale);
    }

    static ASSAY_SIMT void copy_tokens(const SimtBlock& block, const Args& args, const Rows& rows,
                                       unsigned b) {
        Shared& shared = block.template shared<Shared>();
        if (b < rows.end) {
            const unsigned matrix = kTurned ? rows.query : rows.key;
            attention::copy_tokens(block, kTurned ? args.q : args.k, matrix, b, shared.tokens[0]);
            if constexpr (kSlopes)
                attention::copy_tokens(block, kTurned ? args.d_o : args.v, matrix, b, shared.tokens[1]);
            if constexpr (kTurned) copy_queries(block, args, rows, b);
        }
        block.commit_copies();
    }
    // Copies the row numbers of 128 queries, one for each thread.
    static ASSAY_SIMT void copy_queries(const SimtBlock& block, const Args& args, const Rows& rows,
                                        unsigned b) {
        Shared& shared = block.template shared<Shared>();
        const unsigned query = b * attention::kBlock + block.thread();
        const bool valid = query < args.tokens;
        const std::uint64_t at = std::uint64_t{rows.query} * args.tokens + (valid ? query : 0);
        block.copy4(&shared.queries.max[block.thread()], args.max.data + at, valid);
        block.copy4(&shared.queries.sum[block.thread()], args.sum.data + at, valid);
        block.copy4(&shared.queries.inverse[block.thread()], args.inverse.data + at, valid);
        if constexpr (kSlopes) block.copy4(&shared.queries.dot[block.thread()], args.dot.data + at, valid);
    }
    static ASSAY_SIMT void copy_numbers(const SimtBlock& block, const Args& args, const Rows& rows,
                                        unsigned b) {
        Shared& shared = block.template shared<Shared>();
        if (b < rows.end) {
            attention::copy_numbers(block, args.numbers, kTurned ? rows.query : rows.key, b, shared.numbers);
        }
        block.commit_copies();
    }

    // Calls work(b, step, tokens) for the steps of every block of keys. A block's digits are copied during
    // the work on the block before.
    template <class Work>
    static ASSAY_SIMT void each_step(const SimtBlock& block, const Args& args, const Rows& rows,
                                     const Work& work) {
        Shared& shared = block.template shared<Shared>();
        const auto copy = [&](unsigned b) {
            if (b < rows.end)
                attention::copy_tokens(block, args.k, rows.key, b,
                                       b % 2 == 0 ? shared.tokens[0] : shared.numbers);
            block.commit_copies();
        };
        copy(0);
        for (unsigned b = 0; b < rows.end; ++b) {
            copy(b + 1);
            block.template wait_copies<1>();
            block.sync();
            const attention::DigitTile& tokens = b % 2 == 0 ? shared.tokens[0] : shared.numbers;
            ASSAY_NO_UNROLL
            for (unsigned step = 0; step < attention::kSteps; ++step) {
                if (rows.meets(args, b * attention::kBlock + step * attention::kStep)) work(b, step, tokens);
            }
            block.sync();
        }
    }

    static ASSAY_SIMT void find_max(const SimtBlock& block, const Args& args, Rows& rows) {
        constexpr std::uint32_t kNone = 0xffffffffU;
        Largest largest[2] = {{from_bits(static_cast<std::int32_t>(0xff800000U)), kNone},
                              {from_bits(static_cast<std::int32_t>(0xff800000U)), kNone}};
        AllFinite finite;
        each_step(block, args, rows, [&](unsigned b, unsigned step, const attention::DigitTile& tokens) {
            LaneNumbers made;
            scores(block, args, rows, tokens, step, made);
            each_met(block, args, rows, b, step, [&](unsigned across, unsigned i, unsigned row, unsigned n) {
                finite.see(made[across][i]);
                largest[row].see(made[across][i], b * attention::kBlock + in_block(block, step, n));
            });
        });
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row) rows.max[row] = largest[row].among_four(block);
        args.scores.note(block, finite.found());
        keep(block, args, rows, args.max, rows.max);
    }

    static ASSAY_SIMT void find_sum(const SimtBlock& block, const Args& args, Rows& rows) {
        attention::LaneSums<kFault == AttentionFault::kOtherTree> sums;
        sums.clear();
        each_step(block, args, rows, [&](unsigned b, unsigned step, const attention::DigitTile& tokens) {
            LaneNumbers made;
            scores(block, args, rows, tokens, step, made);
            // Without branches, one after another, around each exp32: a term that the row does not meet
            // becomes +0, which changes no sum of numbers that are not negative.
            const Met met(block, args, rows, b * attention::kBlock + step * attention::kStep);
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at) {
                const unsigned across = at / 4, i = at % 4;
                const unsigned row = attention::row_at(i), n = attention::token_at(across, i);
                const float term = exp32(sub_rn(made[across][i], rows.max[row]));
                const std::int32_t all_or_none = met.has(row, n) ? -1 : 0;
                float& part = sums.parts[row][n];
                part = add_rn(part, from_bits(bits_of(term) & all_or_none));
            }
        });
        sums.fold(block, rows.sum);
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row) rows.inverse[row] = div_rn(1.0F, rows.sum[row]);
        keep(block, args, rows, args.sum, rows.sum);
    }

    static ASSAY_SIMT void find_dot(const SimtBlock& block, const Args& args, Rows& rows) {
        Shared& shared = block.template shared<Shared>();
        attention::LaneSums<kFault == AttentionFault::kOtherTree> sums;
        sums.clear();
        AllFinite finite;
        copy_tokens(block, args, rows, 0);
        for (unsigned b = 0; b < rows.end; ++b) {
            block.template wait_copies<0>();
            block.sync();
            ASSAY_NO_UNROLL
            for (unsigned step = 0; step < attention::kSteps; ++step) {
                if (!rows.meets(args, b * attention::kBlock + step * attention::kStep)) continue;
                LaneNumbers made, slope;
                scores(block, args, rows, shared.tokens[0], step, made);
                make_probabilities(block, rows, step, made);
                attention::multiply_step(block, rows.slopes, shared.tokens[1], step, slope);
                each_met(block, args, rows, b, step,
                         [&](unsigned across, unsigned i, unsigned row, unsigned n) {
                             finite.see(slope[across][i]);
                             float& part = sums.parts[row][n];
                             part = fma_rn(slope[across][i], made[across][i], part);
                         });
            }
            block.sync();
            copy_tokens(block, args, rows, b + 1);
        }
        sums.fold(block, rows.dot);
        bool fine = true;
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row)
            fine = (rows.own + 8 * row >= args.tokens || is_finite(rows.dot[row])) && fine;
        args.slopes.note(block, finite.found());
        args.dots.note(block, fine);
        keep(block, args, rows, args.dot, rows.dot);
        keep(block, args, rows, args.inverse, rows.inverse);
    }

    // One of the four lanes that have a row's number stores it.
    static ASSAY_SIMT void keep(const SimtBlock& block, const Args& args, const Rows& rows,
                                const OutputArray<float>& to, const float (&numbers)[2]) {
        if (block.lane() % 4 != 0) return;
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row) {
            if (rows.own + 8 * row < args.tokens)
                to.set(std::uint64_t{rows.query} * args.tokens + rows.own + 8 * row, numbers[row]);
        }
    }

    // Maximum, sum and inverse of a number's row of scores: its query is its row or its token.
    struct RowNumbers {
        float max, sum, inverse;
    };
    static ASSAY_SIMT RowNumbers row_numbers(const SimtBlock& block, const Rows& rows, unsigned step,
                                             unsigned row, unsigned n) {
        if constexpr (kTurned) {
            const auto& queries = block.template shared<Shared>().queries;
            const unsigned query = in_block(block, step, n);
            return {queries.max[query], queries.sum[query], queries.inverse[query]};
        } else {
            return {rows.max[row], rows.sum[row], rows.inverse[row]};
        }
    }

    // Turns scores into probabilities, in place. Masked ones may become anything.
    static ASSAY_SIMT void make_probabilities(const SimtBlock& block, const Rows& rows, unsigned step,
                                              LaneNumbers& made) {
        bool usual = true;
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const RowNumbers of =
                row_numbers(block, rows, step, attention::row_at(i), attention::token_at(across, i));
            const float e = exp32(sub_rn(made[across][i], of.max));
            usual = (e >= attention::smallest_usual() || e == 0.0F) && usual;
            made[across][i] = e;
        }
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16 && usual; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const RowNumbers of =
                row_numbers(block, rows, step, attention::row_at(i), attention::token_at(across, i));
            made[across][i] = attention::quotient(made[across][i], of.sum, of.inverse);
        }
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16 && !usual; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const RowNumbers of =
                row_numbers(block, rows, step, attention::row_at(i), attention::token_at(across, i));
            made[across][i] = div_rn(made[across][i], of.sum);
        }
    }

    // Makes a step of the product's left operand (probabilities, or the scores' gradient), with zeros for
    // masked numbers, and finds the largest of each row.
    static ASSAY_SIMT void weigh(const SimtBlock& block, const Args& args, const Rows& rows, unsigned b,
                                 unsigned step, std::uint32_t (&most)[2], AllFinite& finite) {
        Shared& shared = block.template shared<Shared>();
        LaneNumbers made, slope;
        scores(block, args, rows, shared.tokens[0], step, made);
        make_probabilities(block, rows, step, made);
        if constexpr (kSlopes) attention::multiply_step(block, rows.slopes, shared.tokens[1], step, slope);
        const Met met(block, args, rows, b * attention::kBlock + step * attention::kStep);
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            const unsigned across = at / 4, i = at % 4;
            const unsigned row = attention::row_at(i), n = attention::token_at(across, i);
            float number = made[across][i];
            if constexpr (kSlopes && kTurned) {
                number =
                    slope_of(args, number, slope[across][i], shared.queries.dot[in_block(block, step, n)]);
            } else if constexpr (kSlopes) {
                number = slope_of(args, number, slope[across][i], rows.dot[row]);
            }
            if (kFault == AttentionFault::kWholeMaximum) most[row] = packing::larger(most[row], number);
            if (!met.has(row, n)) number = 0.0F;
            finite.see(number);
            most[row] = packing::larger(most[row], number);
            shared.held[step * 16 + at][block.thread()] = number;
        }
    }

    // The gradient of a score.
    static ASSAY_SIMT float slope_of(const Args& args, float p, float slope, float dot) {
        return mul_rn(mul_rn(p, sub_rn(slope, dot)), args.scale);
    }

    static ASSAY_SIMT void add_products(const SimtBlock& block, const Args& args, const Rows& rows,
                                        attention::HeadSums& sums) {
        Shared& shared = block.template shared<Shared>();
        AllFinite finite;
        copy_tokens(block, args, rows, rows.begin);
        copy_numbers(block, args, rows, rows.begin);
        for (unsigned b = rows.begin; b < rows.end; ++b) {
            block.template wait_copies<1>();
            block.sync();
            std::uint32_t most[2] = {0, 0};
            ASSAY_NO_UNROLL
            for (unsigned step = 0; step < attention::kSteps; ++step) {
                if (rows.meets(args, b * attention::kBlock + step * attention::kStep)) {
                    weigh(block, args, rows, b, step, most, finite);
                } else {
                    ASSAY_UNROLL
                    for (unsigned at = 0; at < 16; ++at) shared.held[step * 16 + at][block.thread()] = 0.0F;
                }
            }
            attention::WeightDigits left;
            left.make(block, shared.held, most);
            if (kFault != AttentionFault::kMissingBarrier) block.sync();
            copy_tokens(block, args, rows, b + 1);
            block.template wait_copies<1>();
            block.sync();
            attention::add_block(block, left, shared.numbers, args.numbers.place.lines, sums);
            block.sync();
            copy_numbers(block, args, rows, b + 1);
        }
        block.template wait_copies<0>();
        if constexpr (kOutput == AttentionOutput::kQueryGradient) args.after.note(block, finite.found());
    }

    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, const Rows& rows,
                                 const attention::HeadSums& sums) {
        const std::uint64_t matrix = args.to.matrix(block.z());
        AllFinite finite;
        ASSAY_UNROLL
        for (unsigned at = 0; at < attention::kNumbers / 2; ++at) {
            const unsigned row = rows.own + 8 * attention::row_at(at % 4);
            const unsigned number = attention::number_at(block.lane(), at / 4, at % 4);
            if (row >= args.tokens || number >= args.numbers.place.lines) continue;
            finite.see(sums[at / 4][at % 4]);
            args.c.set(matrix + args.to.element(row, number), sums[at / 4][at % 4]);
        }
        args.watch.note(block, finite.found());
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
