// SPDX-License-Identifier: Apache-2.0
// Fused attention of profile i16: one kernel for each of its outputs o, dQ, dV and dK. Its squares never lie
// in memory. Scores are recomputed from digits in near memory wherever they are needed; exact sums are the
// same each time. Numbers and order: contracts/arithmetic/exact_attention.hpp, attention.hpp. It goes along a
// row block by block of tokens like FlashAttention (arXiv 2205.14135), but rescales no sums: the law finds
// the maximum first.
#pragma once

#include <type_traits>

#include "trainer/cuda/kernels/attention_rows.hpp"
#include "trainer/cuda/kernels/warp_row.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Grid: 64 rows, 1, query heads of all sequences, or key heads.
template <AttentionOutput kOutput, AttentionFault kFault = AttentionFault::kNone>
struct AttentionI16 {
    using Rows = AttentionRows<kOutput>;
    static constexpr bool kTurned = Rows::kTurned, kSlopes = Rows::kSlopes;
    static constexpr unsigned kThreads = attention::kWarps * kWarp;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
    static constexpr unsigned kBlocks = 2;  // shared memory has no room for three, or registers would spill
#else
    static constexpr unsigned kBlocks = 3;
#endif
    static constexpr bool kWaits = true;
    static constexpr unsigned kTokenTiles = kSlopes ? 2 : 1;
    using Args = AttentionI16Args;
    struct Shared {
        // Digits of tokens and of the head's numbers: of tokens alone in passes over keys, in turn with those
        // of numbers in dQ and dK. A third tile would leave no room for a third block.
        alignas(16) attention::DigitTile tiles[2];
        attention::HeldNumbers held;
        // Of 128 queries, where they are the tokens that rows meet.
        struct Queries {
            alignas(16) float max[attention::kBlock], sum[attention::kBlock], inverse[attention::kBlock];
            alignas(16) float dot[kSlopes ? attention::kBlock : 4];
        };
        // Numbers of the block's rows by QueryNumber, where they are queries.
        struct Own {
            attention::FourNumbers rows[attention::kRows];
        };
        struct Nothing {};
        std::conditional_t<kTurned, Queries, std::conditional_t<kSlopes, Own, Nothing>> queries;
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
        rows.store(block, args, held(block), sums);
    }

private:
    using LaneNumbers = attention::LaneNumbers;

    // Copies what a block of tokens has of the first operand, or of the second.
    static ASSAY_SIMT void copy_tokens(const SimtBlock& block, const Args& args, const Rows& rows,
                                       unsigned b) {
        if (b < rows.end) {
            attention::copy_tokens(block, kTurned ? args.q : args.k, kTurned ? rows.query : rows.key, b,
                                   block.template shared<Shared>().tiles[0]);
            if constexpr (kTurned) copy_queries(block, args, rows, b);
        }
        block.commit_copies();
    }
    static ASSAY_SIMT void copy_second(const SimtBlock& block, const Args& args, const Rows& rows,
                                       unsigned b) {
        if (b < rows.end)
            attention::copy_tokens(block, kTurned ? args.d_o : args.v, kTurned ? rows.query : rows.key, b,
                                   block.template shared<Shared>().tiles[1]);
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
        if (b < rows.end)
            attention::copy_numbers(block, args.numbers, kTurned ? rows.query : rows.key, b,
                                    block.template shared<Shared>().tiles[1]);
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
                                       b % 2 == 0 ? shared.tiles[0] : shared.tiles[1]);
            block.commit_copies();
        };
        copy(0);
        for (unsigned b = 0; b < rows.end; ++b) {
            copy(b + 1);
            block.template wait_copies<1>();
            attention::DigitTile& tokens = b % 2 == 0 ? shared.tiles[0] : shared.tiles[1];
            attention::make_factors(block, tokens);
            block.sync();
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
            const unsigned first = b * attention::kBlock + step * attention::kStep;
            const bool whole = rows.meets_all(args, first);
            if (attention::multiply_step(block, rows.digits, tokens, step, held(block), made)) {
                rows.each_met(
                    block, args, b, step, [&](unsigned across, unsigned i, unsigned row, unsigned n) {
                        const float score = mul_rn(made[across][i], args.scale);
                        finite.see(score);
                        largest[row].see(score, b * attention::kBlock + attention::in_block(block, step, n));
                    });
                return;
            }
            // Multiplication by a positive number keeps the order. All numbers are finite, and zeros are +0,
            // so among equals of a step any may be the first.
            rows.mask(block, args, b, step, whole, made, from_bits(static_cast<std::int32_t>(0xff800000U)));
            ASSAY_UNROLL
            for (unsigned row = 0; row < 2; ++row) {
                float most = made[0][2 * row];
                ASSAY_UNROLL
                for (unsigned n = 1; n < 8; ++n) most = larger_of(most, made[n / 2][2 * row + n % 2]);
                largest[row].see(mul_rn(most, rows.digits.factor(row, false, args.scale)), first);
            }
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
            const bool whole = exponents(block, args, rows, tokens, b, step, made);
            exponentials<false>(block, rows, step, made);
            // A term that the row does not meet becomes +0, which changes no sum of numbers that are not
            // negative.
            rows.mask(block, args, b, step, whole, made);
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at) {
                const unsigned across = at / 4, i = at % 4;
                float& part = sums.parts[attention::row_at(i)][attention::token_at(across, i)];
                part = add_rn(part, made[across][i]);
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
        const auto copy = [&](unsigned b) {
            copy_tokens(block, args, rows, b);
            copy_second(block, args, rows, b);
        };
        copy(0);
        load_own(block, args, rows);
        for (unsigned b = 0; b < rows.end; ++b) {
            block.template wait_copies<0>();
            make_factors(block);
            block.sync();
            ASSAY_NO_UNROLL
            for (unsigned step = 0; step < attention::kSteps; ++step) {
                if (!rows.meets(args, b * attention::kBlock + step * attention::kStep)) continue;
                LaneNumbers made, slope;
                const bool whole = exponents(block, args, rows, shared.tiles[0], b, step, made);
                exponentials<true>(block, rows, step, made);
                const bool has_factor = multiply_slopes(block, rows, step, made, slope);
                const float factors[2] = {rows.slopes.factor(0, has_factor, 1.0F),
                                          rows.slopes.factor(1, has_factor, 1.0F)};
                // Without factors all are finite.
                if (has_factor)
                    rows.each_met(block, args, b, step, [&](unsigned across, unsigned i, unsigned, unsigned) {
                        finite.see(slope[across][i]);
                    });
                rows.each_met(
                    block, args, b, step, whole, [&](unsigned across, unsigned i, unsigned row, unsigned n) {
                        float& part = sums.parts[row][n];
                        part = fma_rn(mul_rn(slope[across][i], factors[row]), made[across][i], part);
                    });
            }
            block.sync();
            copy(b + 1);
        }
        float dot[2];
        sums.fold(block, dot);
        bool fine = true;
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row)
            fine = (rows.own + 8 * row >= args.tokens || is_finite(dot[row])) && fine;
        args.slopes.note(block, finite.found());
        args.dots.note(block, fine);
        keep(block, args, rows, args.dot, dot);
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2 && block.lane() % 4 == 0; ++row)
            own_numbers(block, row).of[static_cast<unsigned>(QueryNumber::kDot)] = dot[row];
    }

    // What kQueryGradient needs of its rows, by one of the four lanes that have them. Then threads have to
    // meet.
    static ASSAY_SIMT void load_own(const SimtBlock& block, const Args& args, const Rows& rows) {
        if (block.lane() % 4 != 0) return;
        ASSAY_UNROLL
        for (unsigned row = 0; row < 2; ++row) {
            const bool exists = rows.own + 8 * row < args.tokens;
            const std::uint64_t at = std::uint64_t{rows.query} * args.tokens + rows.own + 8 * row;
            const float sum = exists ? args.sum.get(at) : 1.0F, inverse = div_rn(1.0F, sum);
            own_numbers(block, row) = {{exists ? args.max.get(at) : 0.0F, sum, inverse, 0.0F}};
            if (exists) args.inverse.set(at, inverse);
        }
    }
    static ASSAY_SIMT attention::FourNumbers& own_numbers(const SimtBlock& block, unsigned row) {
        return block.template shared<Shared>().queries.rows[block.warp() * 16 + block.lane() / 4 + 8 * row];
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

    // A number for each of a step's, of the query to which it belongs: a row, or a token.
    template <QueryNumber kOf>
    static ASSAY_SIMT void numbers_of(const SimtBlock& block, const Rows& rows, unsigned step,
                                      LaneNumbers& all) {
        if constexpr (kTurned) {
            const float* const from = queries<kOf>(block) + attention::in_block(block, step, 0);
            float of[8];
            load4(from, of);
            load4(from + attention::next_in_step(4), of + 4);
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at)
                all[at / 4][at % 4] = of[attention::token_at(at / 4, at % 4)];
        } else {
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at)
                all[at / 4][at % 4] = own_number<kOf>(block, rows, attention::row_at(at % 4));
        }
    }
    template <QueryNumber kOf>
    static ASSAY_SIMT const float* queries(const SimtBlock& block) {
        const auto& of = block.template shared<Shared>().queries;
        if constexpr (kOf == QueryNumber::kDot) return of.dot;
        return kOf == QueryNumber::kMax ? of.max : kOf == QueryNumber::kSum ? of.sum : of.inverse;
    }
    template <QueryNumber kOf>
    static ASSAY_SIMT float own_number(const SimtBlock& block, const Rows& rows, unsigned row) {
        if constexpr (kSlopes) {
            return own_numbers(block, row).of[static_cast<unsigned>(kOf)];
        } else {
            const auto& of = kOf == QueryNumber::kMax   ? rows.max
                             : kOf == QueryNumber::kSum ? rows.sum
                                                        : rows.inverse;
            return row == 0 ? of[0] : of[1];
        }
    }

    // How far each score of a step lies below its row's maximum, which is the law's difference with the other
    // sign; 0 for masked ones. Returns whether the step is whole.
    static ASSAY_SIMT bool exponents(const SimtBlock& block, const Args& args, const Rows& rows,
                                     const attention::DigitTile& tokens, unsigned b, unsigned step,
                                     LaneNumbers& made) {
        const bool has_factor = attention::multiply_step(block, rows.digits, tokens, step, held(block), made);
        const float factors[2] = {rows.digits.factor(0, has_factor, args.scale),
                                  rows.digits.factor(1, has_factor, args.scale)};
        LaneNumbers max;
        numbers_of<QueryNumber::kMax>(block, rows, step, max);
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            float& number = made[at / 4][at % 4];
            number = sub_rn(max[at / 4][at % 4], mul_rn(number, factors[attention::row_at(at % 4)]));
        }
        const bool whole = rows.meets_all(args, b * attention::kBlock + step * attention::kStep);
        rows.mask(block, args, b, step, whole, made);
        return whole;
    }

    // Turns exponents into exponentials, and divides them by their row's sum if they are to be probabilities.
    // Masked ones may become anything.
    template <bool kDivides>
    static ASSAY_SIMT void exponentials(const SimtBlock& block, const Rows& rows, unsigned step,
                                        LaneNumbers& made) {
        // Bits of numbers that are not negative have their order; those of a NaN, the difference of equal
        // infinities, are larger.
        std::uint32_t most = 0;
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            const std::uint32_t bits = static_cast<std::uint32_t>(bits_of(made[at / 4][at % 4]));
            most = bits > most ? bits : most;
        }
        if (most <= static_cast<std::uint32_t>(bits_of(attention::kUsualExponent))) {
            LaneNumbers sum, inverse;
            if constexpr (kDivides) {
                numbers_of<QueryNumber::kSum>(block, rows, step, sum);
                numbers_of<QueryNumber::kInverse>(block, rows, step, inverse);
            }
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at) {
                float& number = made[at / 4][at % 4];
                number = attention::usual_exp32(-number);
                if constexpr (kDivides)
                    number = quotient(number, sum[at / 4][at % 4], inverse[at / 4][at % 4]);
            }
            return;
        }
        attention::hold(block, held(block), step, made);
        ASSAY_NO_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            float& number = held(block)[step * 4 + at / 4][block.thread()].of[at % 4];
            const float e = exp32(-number);
            if constexpr (!kDivides) {
                number = e;
            } else if constexpr (kTurned) {
                number = div_rn(e, queries<QueryNumber::kSum>(
                                       block)[attention::in_block(block, step, at / 8 * 4 + at % 4)]);
            } else {
                number = div_rn(e, own_number<QueryNumber::kSum>(block, rows, at / 4 % 2));
            }
        }
        attention::take(block, held(block), step, made);
    }

    static ASSAY_SIMT attention::HeldNumbers& held(const SimtBlock& block) {
        return block.template shared<Shared>().held;
    }
    static ASSAY_SIMT void make_factors(const SimtBlock& block) {
        Shared& shared = block.template shared<Shared>();
        ASSAY_UNROLL
        for (unsigned i = 0; i < kTokenTiles; ++i) attention::make_factors(block, shared.tiles[i]);
    }

    // The gradient of a step's probabilities. They are held meanwhile where registers are short.
    static ASSAY_SIMT bool multiply_slopes(const SimtBlock& block, const Rows& rows, unsigned step,
                                           LaneNumbers& made, LaneNumbers& slope) {
        Shared& shared = block.template shared<Shared>();
        if (!kTurned) attention::hold(block, shared.held, step, made);
        const bool has_factor =
            attention::multiply_step<!kTurned>(block, rows.slopes, shared.tiles[1], step, shared.held, slope);
        if (!kTurned) attention::take(block, shared.held, step, made);
        return has_factor;
    }

    // Makes a step of the product's left operand (probabilities, or the scores' gradient), with zeros for
    // masked numbers, and finds the largest of each row.
    static ASSAY_SIMT void weigh(const SimtBlock& block, const Args& args, const Rows& rows, unsigned b,
                                 unsigned step, std::uint32_t (&most)[2]) {
        Shared& shared = block.template shared<Shared>();
        LaneNumbers made;
        const bool whole = exponents(block, args, rows, shared.tiles[0], b, step, made);
        exponentials<true>(block, rows, step, made);
        if constexpr (kSlopes) {
            LaneNumbers slope, dot;
            const bool has_factor = multiply_slopes(block, rows, step, made, slope);
            const float factors[2] = {rows.slopes.factor(0, has_factor, 1.0F),
                                      rows.slopes.factor(1, has_factor, 1.0F)};
            numbers_of<QueryNumber::kDot>(block, rows, step, dot);
            ASSAY_UNROLL
            for (unsigned at = 0; at < 16; ++at) {
                const unsigned across = at / 4, i = at % 4;
                // The product with the factor is exact.
                const float above = fma_rn(slope[across][i], factors[attention::row_at(i)], -dot[across][i]);
                made[across][i] = slope_of(args, made[across][i], above);
            }
        }
        if (kFault == AttentionFault::kWholeMaximum) see_sizes(made, most);
        rows.mask(block, args, b, step, whole, made);
        see_sizes(made, most);
        attention::hold(block, shared.held, step, made);
    }
    static ASSAY_SIMT void see_sizes(const LaneNumbers& made, std::uint32_t (&most)[2]) {
        ASSAY_UNROLL
        for (unsigned at = 0; at < 16; ++at) {
            // Probabilities have no sign, at most a NaN.
            const std::uint32_t bits = static_cast<std::uint32_t>(bits_of(made[at / 4][at % 4])),
                                size = kSlopes ? bits & 0x7fffffffU : bits;
            std::uint32_t& of_row = most[attention::row_at(at % 4)];
            of_row = size > of_row ? size : of_row;
        }
    }

    // The gradient of a score.
    static ASSAY_SIMT float slope_of(const Args& args, float p, float above) {
        return mul_rn(mul_rn(p, above), args.scale);
    }

    static ASSAY_SIMT void add_products(const SimtBlock& block, const Args& args, const Rows& rows,
                                        attention::HeadSums& sums) {
        Shared& shared = block.template shared<Shared>();
        bool finite = true;
        // What comes to the second tile while the other tokens are weighed, or before that.
        const auto copy_other = [&](unsigned b) {
            if constexpr (kSlopes) copy_second(block, args, rows, b);
            if constexpr (!kSlopes) copy_numbers(block, args, rows, b);
        };
        copy_tokens(block, args, rows, rows.begin);
        copy_other(rows.begin);
        for (unsigned b = rows.begin; b < rows.end; ++b) {
            block.template wait_copies<kSlopes ? 0 : 1>();
            make_factors(block);
            block.sync();
            std::uint32_t most[2] = {0, 0};
            ASSAY_NO_UNROLL
            for (unsigned step = 0; step < attention::kSteps; ++step) {
                if (rows.meets(args, b * attention::kBlock + step * attention::kStep)) {
                    weigh(block, args, rows, b, step, most);
                } else {
                    constexpr LaneNumbers kZeros = {};
                    attention::hold(block, shared.held, step, kZeros);
                }
            }
            ASSAY_UNROLL
            for (unsigned row = 0; row < 2; ++row) most[row] &= 0x7fffffffU;
            finite = finite && most[0] < 0x7f800000U && most[1] < 0x7f800000U;
            attention::WeightDigits left;
            left.make(block, shared.held, most);
            if (kFault != AttentionFault::kMissingBarrier) block.sync();
            if constexpr (kSlopes) copy_numbers(block, args, rows, b);
            copy_tokens(block, args, rows, b + 1);
            block.template wait_copies<1>();
            attention::make_factors(block, shared.tiles[1]);
            block.sync();
            attention::add_block(block, left, shared.held, shared.tiles[1], args.numbers.place.lines, sums);
            block.sync();
            copy_other(b + 1);
        }
        block.template wait_copies<0>();
        if constexpr (kOutput == AttentionOutput::kQueryGradient) args.after.note(block, finite);
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
