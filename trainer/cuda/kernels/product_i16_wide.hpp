// SPDX-License-Identifier: Apache-2.0
// Gives devices of compute capability 9.0 the products of product_i16.hpp in large tiles, by instructions of
// whole warpgroups (wgmma), whose operands stay in shared memory: the same digits, sums and order, and so the
// same bits. For products without a mask.
#pragma once

#include "trainer/cuda/kernels/product_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// A warpgroup makes 64 × kColumns outputs, a block of two makes twice that. Grid: columns, rows, matrices.
/// REQUIRES operands with some k.
template <unsigned kPlanesA, unsigned kColumns, ProductFault kFault = ProductFault::kNone>
struct ProductI16Wide {
    static constexpr unsigned kPlanesB = 2;
    static constexpr unsigned kWeights = kPlanesA + kPlanesB - 1;
    static constexpr unsigned kGroups = 2, kRows = 64 * kGroups;
    static constexpr unsigned kThreads = 128 * kGroups;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = true;
    static constexpr unsigned kNumbers = kColumns / 2;  // outputs of a thread
    static constexpr unsigned kStages = kPlanesA == 3 ? 4 : 5;
    static constexpr unsigned kAhead = kStages - 2;  // tiles that are copied before they are multiplied
    static constexpr unsigned kWords = 16;           // of a line of a tile: 64 digits of k
    static_assert(kColumns % 16 == 0);

    using Args = ProductI16Args;
    struct Shared {
        alignas(1024) std::uint32_t a[kStages][kPlanesA][kRows * kWords];
        std::uint32_t b[kStages][kPlanesB][kColumns * kWords];
        float values[kNumbers][kThreads];  // of blocks of k so far
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.c);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        return {(args.b.place.lines + kColumns - 1) / kColumns, (args.a.place.lines + kRows - 1) / kRows,
                matrices};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const Lines a(block, args.a, block.y() * kRows), b(block, args.b, block.x() * kColumns);
        const DigitPlace& place = args.a.place;
        const unsigned blocks = place.blocks();
        Tile next;
        for (unsigned stage = 0; stage < kAhead; ++stage) copy(block, args, a, b, stage, next);
        unsigned stage = 0;
        for (unsigned k = 0; k < blocks; ++k) {
            std::int32_t sums[kWeights][kNumbers];
            const unsigned tiles = (place.length(k) + 4 * kWords - 1) / (4 * kWords);
            clear(sums);
            ASSAY_NO_UNROLL
            for (unsigned tile = 0; tile < tiles; ++tile) {
                block.template wait_copies<kAhead - 1>();
                block.share_with_wgmma();
                block.sync();
                multiply(block, stage, sums);
                // The tile of two turns ago has been multiplied by everybody who passed the barrier.
                copy(block, args, a, b, stage < 2 ? stage + kAhead : stage - 2, next);
                stage = stage + 1 == kStages ? 0 : stage + 1;
                block.template wgmma_wait<kFault == ProductFault::kMissingBarrier ? 2 : 1>();
            }
            block.template wgmma_wait<0>();
            finish_block(block, args, k, k + 1 == blocks, sums);
        }
        block.template wait_copies<0>();
    }

private:
    using Sums = std::int32_t[kWeights][kNumbers];

    // A tile's place along k: tiles do not reach across blocks.
    struct Tile {
        unsigned block = 0, word = 0;

        ASSAY_SIMT bool is_last(const DigitPlace& place) const {
            return 4 * (word + kWords) >= place.length(block);
        }
        ASSAY_SIMT void advance(const DigitPlace& place) {
            const bool last = is_last(place);
            word = last ? 0 : word + kWords;
            block += last ? 1 : 0;
        }
    };

    // What a thread copies of an operand's lines.
    struct Lines {
        const std::uint32_t* words;  // of its first line
        std::uint64_t plane, sixty_four;
        unsigned count;  // of lines from its first on

        ASSAY_SIMT Lines(const SimtBlock& block, const Digits& digits, unsigned first) {
            const unsigned own = first + block.thread() / 4;
            count = own < digits.place.lines ? digits.place.lines - own : 0;
            words = digits.words + (count != 0 ? digits.place.word(digits.matrix(block.z()), 0, own, 0) : 0);
            plane = digits.place.lines * digits.place.line_words();
            sixty_four = 64 * digits.place.line_words();
        }
    };

    static ASSAY_SIMT void clear(Sums& sums) {
        ASSAY_UNROLL
        for (unsigned i = 0; i < kWeights * kNumbers; ++i) sums[i / kNumbers][i % kNumbers] = 0;
    }

    // Copies the next tile of both operands, if there is one.
    static ASSAY_SIMT void copy(const SimtBlock& block, const Args& args, const Lines& a, const Lines& b,
                                unsigned stage, Tile& next) {
        const DigitPlace& place = args.a.place;
        if (next.block < place.blocks()) {
            Shared& shared = block.template shared<Shared>();
            const unsigned piece = block.thread() % 4 * 4;
            const std::uint64_t at = std::uint64_t{next.block} * place.block_words() + next.word + piece;
            const bool there = next.word + piece < place.block_words();
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < kPlanesA; ++plane) {
                copy_lines<kRows>(block, a, a.words + plane * a.plane + at, there, shared.a[stage][plane]);
            }
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < kPlanesB; ++plane) {
                copy_lines<kColumns>(block, b, b.words + plane * b.plane + at, there, shared.b[stage][plane]);
            }
            next.advance(place);
        }
        block.commit_copies();
    }

    template <unsigned kLines>
    static ASSAY_SIMT void copy_lines(const SimtBlock& block, const Lines& lines, const std::uint32_t* from,
                                      bool there, std::uint32_t (&to)[kLines * kWords]) {
        const unsigned line = block.thread() / 4, piece = block.thread() % 4 * 4;
        ASSAY_UNROLL
        for (unsigned more = 0; more < kLines; more += 64) {
            if (kLines % 64 != 0 && line + more >= kLines) continue;
            const bool valid = there && more < lines.count;
            block.copy16(&to[swizzled_word(line + more, piece)],
                         valid ? from + more / 64 * lines.sixty_four : lines.words, valid);
        }
    }

    static ASSAY_SIMT void multiply(const SimtBlock& block, unsigned stage, Sums& sums) {
        const Shared& shared = block.template shared<Shared>();
        const unsigned group = block.warp() / 4;
        block.wgmma_begin();
        ASSAY_UNROLL
        for (unsigned step = 0; step < 2; ++step) {
            ASSAY_UNROLL
            for (unsigned i = 0; i < kPlanesA * kPlanesB; ++i) {
                const unsigned left = i / kPlanesB, right = i % kPlanesB;
                block.wgmma_s8(sums[left + right], &shared.a[stage][left][group * 64 * kWords],
                               shared.b[stage][right], step);
            }
        }
        block.wgmma_commit();
    }

    // Adds a block's sums to what there is, and stores the outputs after the last one.
    static ASSAY_SIMT void finish_block(const SimtBlock& block, const Args& args, unsigned b, bool last,
                                        const Sums& sums) {
        Shared& shared = block.template shared<Shared>();
        const DigitPlace &left = args.a.place, &right = args.b.place;
        const unsigned matrix_a = args.a.matrix(block.z()), matrix_b = args.b.matrix(block.z());
        const unsigned first_row = block.y() * kRows + block.warp() * 16 + block.lane() / 4;
        const unsigned first_column = block.x() * kColumns + block.lane() % 4 * 2;
        std::int32_t exponents[2] = {0, 0};
        ASSAY_UNROLL
        for (unsigned i = 0; i < 2; ++i) {
            const unsigned row = first_row + 8 * i;
            if (row < left.lines) exponents[i] = args.a.exponents[left.exponent(matrix_a, row, b)];
        }
        ASSAY_UNROLL
        for (unsigned at = 0; at < kNumbers; ++at) {
            const unsigned row = first_row + at / 2 % 2 * 8, column = first_column + at / 4 * 8 + at % 2;
            if (row >= left.lines || column >= right.lines) continue;
            const std::uint64_t to = args.to.at(block.z(), row, column);
            float value = b != 0 ? shared.values[at][block.thread()] : args.carry ? args.c.get(to) : 0.0F;
            std::int64_t sum = sums[kWeights - 1][at];
            ASSAY_UNROLL
            for (unsigned weight = kWeights - 1; weight > 0; --weight) sum = sum * 256 + sums[weight - 1][at];
            if (kFault == ProductFault::kCutSum) sum = sum / 128 * 128;
            const std::int32_t other = args.b.exponents[right.exponent(matrix_b, column, b)];
            value = add_rn(value, finish(sum, exponents[at / 2 % 2] + other));
            if (!last) {
                shared.values[at][block.thread()] = value;
            } else {
                args.c.set(to, args.bias != nullptr ? add_rn(value, args.bias[column]) : value);
            }
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
