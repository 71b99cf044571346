// SPDX-License-Identifier: Apache-2.0
// Products of profile i16 (contracts/arithmetic/exact_product.hpp) on packed operands (pack_i16.hpp). Matrix
// units multiply digits. Products of digits with the same weight go to the same 32-bit sum: three sums, or
// four if A has three digits. Every block of k is finished by the law and added. In a block of at most 16,384
// no sum exceeds 2^30.
#pragma once

#include "trainer/cuda/kernels/pack_i16.hpp"
#include "trainer/cuda/kernels/split_k.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct Digits {
    const std::uint32_t* words = nullptr;
    const std::int32_t* exponents = nullptr;
    DigitPlace place;
    unsigned inner = 1;  ///< as in OperandPlace
    unsigned sharing = 1;

    [[nodiscard]] ASSAY_SIMT unsigned matrix(unsigned z) const {
        return z / inner * (inner / sharing) + z % inner / sharing;
    }
};

struct ProductI16Args {
    Digits a;  ///< lines are rows of A
    Digits b;  ///< lines are columns of B; the same blocks as A
    OutputArray<float> c;
    OperandPlace to;
    const float* bias = nullptr;  ///< added after the last block; null: none
    float scale = 1.0F;           ///< kLower: the sum is multiplied by it
    bool carry = false;           ///< adds to what c holds
    NumberWatch watch;            ///< of what is written to c
    SplitK split = {};            ///< of product_i16_wide.hpp
    OutputArray<float> parts = {};
};

/// A warp computes 32×32 outputs (32×16 if A has three digits, so that a fourth sum fits into registers), a
/// block kDown × kAcross times that. Grid: columns, rows, matrices.
template <unsigned kDown, unsigned kAcross, unsigned kPlanesA, Mask kMask,
          ProductFault kFault = ProductFault::kNone>
struct ProductI16 {
    static constexpr unsigned kPlanesB = 2;
    static constexpr unsigned kWeights = kPlanesA + kPlanesB - 1;
    static constexpr unsigned kThreads = kDown * kAcross * kWarp;
    static constexpr unsigned kBlocks = 2;
    static constexpr bool kWaits = true;
    static constexpr unsigned kTiles = kPlanesA == 3 ? 2 : 4;  // of 8 columns, of a warp
    static constexpr unsigned kNumbers = 8 * kTiles;           // of a lane: in two tiles of 16 rows
    static constexpr unsigned kRows = 32 * kDown, kColumns = 8 * kTiles * kAcross;
    static_assert(kMask == Mask::kNone || kMask == Mask::kLower || kRows <= kMaskedRows);
    static constexpr unsigned kStepWords = 8;  // 32 digits of k
    static constexpr unsigned kPitch = 12;     // words: lanes of a fragment read different banks

    using Args = ProductI16Args;
    struct Shared {
        alignas(16) std::uint32_t a[2][kPlanesA][kRows][kPitch];
        alignas(16) std::uint32_t b[2][kPlanesB][kColumns][kPitch];
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
        const unsigned row = block.y() * kRows, column = block.x() * kColumns;
        if (kMask == Mask::kLower && column > row + kRows - 1) return;
        const Place place{row, column, block.warp() / kAcross * 32, block.warp() % kAcross * 8 * kTiles};
        Values values;
        load(block, args, place, values);
        const unsigned length = args.a.place.block;
        const unsigned first = kMask == Mask::kFromOn ? row / length : 0;
        unsigned end = args.a.place.blocks();
        if (kMask == Mask::kUpTo && (row + kRows - 1) / length + 1 < end)
            end = (row + kRows - 1) / length + 1;
        for (unsigned b = first; b < end; ++b) add_block(block, args, place, b, values);
        store(block, args, place, values);
    }

private:
    struct Place {
        unsigned row, column;            // of the block
        unsigned warp_row, warp_column;  // of the warp in it
    };
    using Values = float[2][kTiles][4];
    using Sums = std::int32_t[kWeights][2][kTiles][4];

    static ASSAY_SIMT void add_block(const SimtBlock& block, const Args& args, const Place& place, unsigned b,
                                     Values& values) {
        Sums sums;
        ASSAY_UNROLL
        for (unsigned i = 0; i < kWeights * kNumbers; ++i) {
            sums[i / kNumbers][i / (4 * kTiles) % 2][i / 4 % kTiles][i % 4] = 0;
        }
        const bool idle = place.row + place.warp_row >= args.a.place.lines ||
                          place.column + place.warp_column >= args.b.place.lines;
        const unsigned steps = (args.a.place.length(b) + 31) / 32;
        const CopiedLines<kRows> a(block, args.a, place.row, b);
        const CopiedLines<kColumns> other(block, args.b, place.column, b);
        stage(block, a, other, 0, steps);
        for (unsigned step = 0; step < steps; ++step) {
            stage(block, a, other, step + 1, steps);
            block.template wait_copies<1>();
            block.sync();
            if (!idle) multiply(block, place, step % 2, sums);
            if (kFault != ProductFault::kMissingBarrier) block.sync();
        }
        finish_block(block, args, place, b, sums, values);
    }

    // The part of a tile's lines that a thread copies. It is found once for each block of k: finding it again
    // for each tile would cost more than the products.
    template <unsigned kLines>
    struct CopiedLines {
        static constexpr unsigned kCopies = (2 * kLines + kThreads - 1) / kThreads;
        const std::uint32_t* words;
        std::uint64_t from[kCopies];
        bool valid[kCopies];

        ASSAY_SIMT CopiedLines(const SimtBlock& block, const Digits& digits, unsigned line, unsigned b)
            : words(digits.words) {
            const unsigned matrix = digits.matrix(block.z());
            ASSAY_UNROLL
            for (unsigned copy = 0; copy < kCopies; ++copy) {
                const unsigned i = block.thread() + copy * kThreads;
                valid[copy] = line + i / 2 < digits.place.lines;
                from[copy] = valid[copy] ? digits.place.first_word(matrix, line + i / 2, b) + i % 2 * 4 : 0;
            }
        }
    };

    // Copies 32 digits of k of every line of the block.
    static ASSAY_SIMT void stage(const SimtBlock& block, const CopiedLines<kRows>& a,
                                 const CopiedLines<kColumns>& other, unsigned step, unsigned steps) {
        Shared& shared = block.template shared<Shared>();
        if (step < steps) {
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < kPlanesA; ++plane) {
                stage_plane<kPlanesA, kRows>(block, a, plane, step, shared.a[step % 2][plane]);
            }
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < kPlanesB; ++plane) {
                stage_plane<kPlanesB, kColumns>(block, other, plane, step, shared.b[step % 2][plane]);
            }
        }
        block.commit_copies();
    }

    template <unsigned kPlanes, unsigned kLines>
    static ASSAY_SIMT void stage_plane(const SimtBlock& block, const CopiedLines<kLines>& lines,
                                       unsigned plane, unsigned step, std::uint32_t (&to)[kLines][kPitch]) {
        const unsigned piece = step * kStepWords / kPieceWords, rest = step * kStepWords % kPieceWords;
        const unsigned offset = (piece * kPlanes + plane) * kPieceWords + rest;
        ASSAY_UNROLL
        for (unsigned copy = 0; copy < CopiedLines<kLines>::kCopies; ++copy) {
            const unsigned i = block.thread() + copy * kThreads;
            if (2 * kLines % kThreads != 0 && i >= 2 * kLines) continue;
            const bool valid = lines.valid[copy];
            block.copy16(&to[i / 2][i % 2 * 4], lines.words + (valid ? lines.from[copy] + offset : 0), valid);
        }
    }

    static ASSAY_SIMT void multiply(const SimtBlock& block, const Place& place, unsigned turn, Sums& sums) {
        const Shared& shared = block.template shared<Shared>();
        const unsigned group = block.lane() / 4, own = block.lane() % 4;
        std::uint32_t left[kPlanesA][2][4];
        ASSAY_UNROLL
        for (unsigned i = 0; i < kPlanesA * 8; ++i) {
            const unsigned plane = i / 8, tile = i / 4 % 2, word = i % 4;
            left[plane][tile][word] =
                shared.a[turn][plane][place.warp_row + tile * 16 + word % 2 * 8 + group][own + word / 2 * 4];
        }
        ASSAY_UNROLL
        for (unsigned tile = 0; tile < kTiles; ++tile) {
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < kPlanesB; ++plane) {
                const std::uint32_t(&line)[kPitch] =
                    shared.b[turn][plane][place.warp_column + tile * 8 + group];
                const std::uint32_t right[2] = {line[own], line[own + 4]};
                ASSAY_UNROLL
                for (unsigned i = 0; i < 2 * kPlanesA; ++i) {
                    block.mma_s8(sums[i / 2 + plane][i % 2][tile], left[i / 2][i % 2], right);
                }
            }
        }
    }

    // Place of number i of a fragment in the block's outputs.
    static ASSAY_SIMT unsigned row_of(const SimtBlock& block, const Place& place, unsigned tile, unsigned i) {
        return place.row + place.warp_row + tile * 16 + i / 2 * 8 + block.lane() / 4;
    }
    static ASSAY_SIMT unsigned column_of(const SimtBlock& block, const Place& place, unsigned tile,
                                         unsigned i) {
        return place.column + place.warp_column + tile * 8 + block.lane() % 4 * 2 + i % 2;
    }
    static ASSAY_SIMT bool exists(const Args& args, unsigned i, unsigned j) {
        return i < args.a.place.lines && j < args.b.place.lines && (kMask != Mask::kLower || j <= i);
    }

    // Finishes all numbers, even those that do not exist: without branches the compiler finishes several at a
    // time.
    static ASSAY_SIMT void finish_block(const SimtBlock& block, const Args& args, const Place& place,
                                        unsigned b, const Sums& sums, Values& values) {
        const std::int32_t* const exponents_a =
            args.a.exponents + args.a.place.exponent(args.a.matrix(block.z()), 0, b);
        const std::int32_t* const exponents_b =
            args.b.exponents + args.b.place.exponent(args.b.matrix(block.z()), 0, b);
        std::int32_t of_rows[2][2], of_columns[kTiles][2];
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned row = row_of(block, place, i / 2, i % 2 * 2);
            of_rows[i / 2][i % 2] = row < args.a.place.lines ? exponents_a[row] : 0;
        }
        ASSAY_UNROLL
        for (unsigned i = 0; i < 2 * kTiles; ++i) {
            const unsigned column = column_of(block, place, i / 2, i % 2);
            of_columns[i / 2][i % 2] = column < args.b.place.lines ? exponents_b[column] : 0;
        }
        ASSAY_UNROLL
        for (unsigned at = 0; at < kNumbers; ++at) {
            const unsigned down = at / (4 * kTiles), across = at / 4 % kTiles, i = at % 4;
            std::int32_t digits[kWeights];
            ASSAY_UNROLL
            for (unsigned weight = 0; weight < kWeights; ++weight)
                digits[weight] = sums[weight][down][across][i];
            std::int64_t sum = sum_of(digits);
            if (kFault == ProductFault::kCutSum) sum = sum / 128 * 128;
            const float value = finish(sum, of_rows[down][i / 2] + of_columns[across][i % 2]);
            values[down][across][i] = add_rn(values[down][across][i], value);
        }
    }

    static ASSAY_SIMT void load(const SimtBlock& block, const Args& args, const Place& place,
                                Values& values) {
        const std::uint64_t matrix = args.to.matrix(block.z());
        ASSAY_UNROLL
        for (unsigned at = 0; at < kNumbers; ++at) {
            const unsigned down = at / (4 * kTiles), across = at / 4 % kTiles, i = at % 4;
            const unsigned row = row_of(block, place, down, i), column = column_of(block, place, across, i);
            values[down][across][i] = args.carry && exists(args, row, column)
                                          ? args.c.get(matrix + args.to.element(row, column))
                                          : 0.0F;
        }
    }

    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, const Place& place,
                                 const Values& values) {
        const std::uint64_t matrix = args.to.matrix(block.z());
        AllFinite finite;
        ASSAY_UNROLL
        for (unsigned at = 0; at < kNumbers; ++at) {
            const unsigned down = at / (4 * kTiles), across = at / 4 % kTiles, i = at % 4;
            const unsigned row = row_of(block, place, down, i), column = column_of(block, place, across, i);
            if (!exists(args, row, column)) continue;
            float value = values[down][across][i];
            if (kMask == Mask::kLower) value = mul_rn(value, args.scale);
            if (args.bias != nullptr) value = add_rn(value, args.bias[column]);
            args.c.set(matrix + args.to.element(row, column), value);
            finite.see(value);
        }
        args.watch.note(block, finite.found());
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
