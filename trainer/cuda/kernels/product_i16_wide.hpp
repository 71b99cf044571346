// SPDX-License-Identifier: Apache-2.0
// The products of product_i16.hpp for compute capability 9.0, in large tiles, by instructions of whole
// warpgroups (wgmma), whose operands stay in shared memory. Digits, sums and order are the same, and so are
// the bits. If there are few tiles, or some are left over, those are cut along k (split_k.hpp):
// ProductI16Wide stores their parts, and AddPartsI16 adds these.
#pragma once

#include "trainer/cuda/kernels/product_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// A warpgroup computes 64 × kColumns outputs, a block of two warpgroups twice that. Grid: columns, rows,
/// matrices. REQUIRES k > 0, and outputs that lie side by side in their rows. With kCut it follows
/// `args.split`, for one matrix; c is complete after AddPartsI16. Grid then: tiles, row by row, and after
/// them their parts, with those of a block of k side by side.
template <unsigned kPlanesA, unsigned kColumns, Mask kMask = Mask::kNone, bool kCut = false,
          ProductFault kFault = ProductFault::kNone>
struct ProductI16Wide {
    static_assert(kMask == Mask::kNone || (kMask == Mask::kLower && !kCut));
    static constexpr unsigned kPlanesB = 2;
    static constexpr unsigned kWeights = kPlanesA + kPlanesB - 1;
    static constexpr unsigned kGroups = 2, kRows = 64 * kGroups;
    static constexpr unsigned kThreads = 128 * kGroups;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = true;
    static constexpr unsigned kNumbers = kColumns / 2;  // outputs of a thread
    static constexpr unsigned kStages = kPlanesA == 3 ? 4 : 5;
    static constexpr unsigned kAhead = kStages - 2;  // tiles that are copied ahead
    static constexpr unsigned kWords = kPieceWords;  // of a line of a tile in a plane
    static_assert(kColumns % 32 == 0);

    using Args = ProductI16Args;
    struct Shared {
        alignas(1024) std::uint32_t a[kStages][kPlanesA][kRows * kWords];
        std::uint32_t b[kStages][kPlanesB][kColumns * kWords];
        float values[kNumbers][kThreads];  // sums of the blocks of k so far
        // For this block of k and the one before, which other threads may still read.
        std::int32_t row_exponents[2][kRows];
        std::int32_t column_exponents[2][kColumns];
        bool unusual[2][kThreads / kWarp];  // whether a warp saw an exponent of large magnitude
        float bias[kColumns];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.c);
        visit(args.parts);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        const TileGrid tiles(args);
        if (kCut) return {tiles.across * tiles.down + args.split.parts, 1, 1};
        return {tiles.across, tiles.down, matrices};
    }
    /// The counts of a product that split_k() needs.
    static TileCounts counts(const Args& args) {
        const TileGrid tiles(args);
        return {.tiles = std::uint64_t{tiles.across} * tiles.down,
                .blocks = args.a.place.blocks(),
                .length = args.a.place.depth == 0 ? 0 : args.a.place.length(0),
                .numbers = std::uint64_t{kRows} * kColumns};
    }

    /// The tiles of a matrix.
    struct TileGrid {
        unsigned across, down;
        explicit ASSAY_BOTH TileGrid(const Args& args)
            : across((args.b.place.lines + kColumns - 1) / kColumns),
              down((args.a.place.lines + kRows - 1) / kRows) {}
    };

    /// The place of a thread's number `number` in a part. The numbers of all threads lie side by side.
    static ASSAY_SIMT std::uint64_t part_of(unsigned part, unsigned number, unsigned thread) {
        return (std::uint64_t{part} * kNumbers + number) * kThreads + thread;
    }

    static constexpr unsigned kNoPart = ~0U;
    /// The work of a thread block: some blocks of k of a tile.
    struct CutWork {
        unsigned row, column;  // the tile's first
        unsigned begin, end;   // blocks of k
        unsigned part;         // the part that it is stored as; kNoPart: in c
    };

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const CutWork work = work_of(block, args);
        if (kMask == Mask::kLower && work.column > work.row + kRows - 1) return;
        const DigitPlace& place = args.a.place;
        const CopiedDigits<kRows, kPlanesA> a(block, args.a, work.row);
        const CopiedDigits<kColumns, kPlanesB> b(block, args.b, work.column);
        PiecePlace next{work.begin, 0};
        for (unsigned stage = 0; stage < kAhead; ++stage) copy(block, place, work, a, b, stage, next);
        if (args.bias != nullptr && block.thread() < kColumns) {
            const unsigned column = work.column + block.thread();
            block.template shared<Shared>().bias[block.thread()] =
                column < args.b.place.lines ? read(args.bias + column) : 0.0F;
        }
        if (args.carry && work.part == kNoPart) load(block, args, work);
        unsigned stage = 0;
        for (unsigned k = work.begin; k < work.end; ++k) {
            std::int32_t sums[kWeights][kNumbers];
            const unsigned tiles = tiles_of(place, k);
            share_exponents(block, args, work, k);
            clear(sums);
            hold(block, sums);
            ASSAY_NO_UNROLL
            for (unsigned tile = 0; tile < tiles; ++tile) {
                block.template wait_copies<kAhead - 1>();
                block.share_with_wgmma();
                block.sync();
                multiply(block, stage, sums);
                // All threads that passed the barrier have multiplied the tile of two turns ago.
                copy(block, place, work, a, b, stage < 2 ? stage + kAhead : stage - 2, next);
                stage = stage + 1 == kStages ? 0 : stage + 1;
                block.template wgmma_wait<kFault == ProductFault::kMissingBarrier ? 2 : 1>();
            }
            block.template wgmma_wait<0>();
            hold(block, sums);
            finish_block(block, args, work, k, sums);
        }
        block.template wait_copies<0>();
    }

    /// The places of a thread's outputs: pairs of neighbours, in two rows, eight columns apart.
    struct Outputs {
        unsigned own_row, own_column;  // in the tile
        unsigned rows, columns;        // existing ones from the thread's first on
        unsigned above, left_out;      // how far the first one's row is below the diagonal, or above it
        std::uint64_t upper, lower;    // the first output of both rows
        bool whole;                    // all of them exist
        bool pairs;                    // two neighbours can be stored together

        ASSAY_SIMT Outputs(const SimtBlock& block, const Args& args, unsigned first_row,
                           unsigned first_column)
            : own_row(block.warp() * 16 + block.lane() / 4), own_column(block.lane() % 4 * 2) {
            const unsigned row = first_row + own_row, column = first_column + own_column;
            rows = row < args.a.place.lines ? args.a.place.lines - row : 0;
            columns = column < args.b.place.lines ? args.b.place.lines - column : 0;
            upper = args.to.matrix(block.z()) + args.to.row_stride * row + column;
            lower = upper + 8 * args.to.row_stride;
            whole = rows > 8 && columns + 6 >= kColumns &&
                    (kMask == Mask::kNone || first_column + kColumns - 1 <= first_row);
            above = row >= column ? row - column : 0;
            left_out = row < column ? column - row : 0;
            pairs = args.to.row_stride % 2 == 0 && is_aligned8(args.c.data + upper);
        }
        [[nodiscard]] ASSAY_SIMT bool has(unsigned at) const {
            const unsigned down = at / 2 % 2 * 8, right = at / 4 * 8 + at % 2;
            if (kMask == Mask::kLower && right + left_out > down + above) return false;
            return down < rows && right < columns;
        }
        [[nodiscard]] ASSAY_SIMT std::uint64_t place(unsigned at) const {
            return (at / 2 % 2 == 0 ? upper : lower) + at / 4 * 8 + at % 2;
        }
    };

private:
    using Sums = std::int32_t[kWeights][kNumbers];

    static ASSAY_SIMT CutWork work_of(const SimtBlock& block, const Args& args) {
        const unsigned blocks = args.a.place.blocks();
        if constexpr (!kCut) return {block.y() * kRows, block.x() * kColumns, 0, blocks, kNoPart};
        const TileGrid tiles(args);
        const unsigned count = tiles.across * tiles.down, whole = args.split.whole;
        const bool is_part = block.x() >= count;
        const unsigned part = block.x() - count;
        const unsigned tile = is_part ? whole + part % (count - whole) : block.x();
        const unsigned begin = is_part ? args.split.together + part / (count - whole) : 0;
        const unsigned end = is_part ? begin + 1 : tile < whole ? blocks : args.split.together;
        return {tile / tiles.across * kRows, tile % tiles.across * kColumns, begin, end,
                is_part ? part : kNoPart};
    }

    // Pieces of a block of k. A tile does not reach across blocks.
    static ASSAY_SIMT unsigned tiles_of(const DigitPlace& place, unsigned k) {
        return (place.length(k) + kPieceDigits - 1) / kPieceDigits;
    }

    // A tile's place along k.
    struct PiecePlace {
        unsigned block = 0, piece = 0;

        ASSAY_SIMT void advance(const DigitPlace& place) {
            const bool last = piece + 1 >= tiles_of(place, block);
            piece = last ? 0 : piece + 1;
            block += last ? 1 : 0;
        }
    };

    // The part of an operand's lines that a thread copies: sixteen bytes of a piece, of some lines.
    template <unsigned kLines, unsigned kPlanes>
    struct CopiedDigits {
        static constexpr unsigned kChunks = 4 * kPlanes;  // of a line's piece, in all planes
        static constexpr unsigned kCopies = kLines * kChunks / kThreads;
        static_assert(kLines * kChunks % kThreads == 0);
        const std::uint32_t* own;  // the first chunk
        std::uint64_t line_words;
        unsigned count;  // of existing lines from the block's first on

        ASSAY_SIMT CopiedDigits(const SimtBlock& block, const Digits& digits, unsigned first)
            : own(digits.words + digits.place.first_word(digits.matrix(block.z()), first, 0)),
              line_words(digits.place.line_words()),
              count(digits.place.lines - first) {
            if constexpr (kThreads % kChunks == 0)
                own += block.thread() / kChunks * line_words + block.thread() % kChunks * 4;
        }
        // Source and line of the thread's copy i.
        [[nodiscard]] ASSAY_SIMT const std::uint32_t* from(const SimtBlock& block, unsigned i) const {
            if constexpr (kThreads % kChunks == 0) return own + i * (kThreads / kChunks) * line_words;
            const unsigned at = block.thread() + i * kThreads;
            return own + at / kChunks * line_words + at % kChunks * 4;
        }
    };

    static ASSAY_SIMT void clear(Sums& sums) {
        ASSAY_UNROLL
        for (unsigned i = 0; i < kWeights * kNumbers; ++i) sums[i / kNumbers][i % kNumbers] = 0;
    }

    static ASSAY_SIMT void hold(const SimtBlock& block, Sums& sums) {
        ASSAY_UNROLL
        for (unsigned weight = 0; weight < kWeights; ++weight) block.wgmma_hold(sums[weight]);
    }

    static ASSAY_SIMT void share_exponents(const SimtBlock& block, const Args& args, const CutWork& work,
                                           unsigned k) {
        static_assert(kRows + kColumns <= kThreads);
        Shared& shared = block.template shared<Shared>();
        const unsigned thread = block.thread();
        std::int32_t exponent = 0;
        if (thread < kRows) {
            exponent = exponent_of(args.a, block.z(), work.row + thread, k);
            shared.row_exponents[k % 2][thread] = exponent;
        } else if (thread - kRows < kColumns) {
            exponent = exponent_of(args.b, block.z(), work.column + thread - kRows, k);
            shared.column_exponents[k % 2][thread - kRows] = exponent;
        }
        unsigned unusual = exponent > kSmallExponent || exponent < -kSmallExponent ? 1 : 0;
        ASSAY_UNROLL
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) unusual |= block.shfl_xor(unusual, lanes);
        if (block.lane() == 0) shared.unusual[k % 2][block.warp()] = unusual != 0;
    }
    static ASSAY_SIMT std::int32_t exponent_of(const Digits& digits, unsigned z, unsigned line, unsigned k) {
        if (line >= digits.place.lines) return 0;
        return digits.exponents[digits.place.exponent(digits.matrix(z), line, k)];
    }

    // Copies the next tile of both operands, if there is one.
    static ASSAY_SIMT void copy(const SimtBlock& block, const DigitPlace& place, const CutWork& work,
                                const CopiedDigits<kRows, kPlanesA>& a,
                                const CopiedDigits<kColumns, kPlanesB>& b, unsigned stage, PiecePlace& next) {
        if (next.block < work.end) {
            Shared& shared = block.template shared<Shared>();
            const std::uint64_t piece =
                std::uint64_t{next.block} * (place.block_words() / kPieceWords) + next.piece;
            copy_lines(block, a, piece, shared.a[stage]);
            copy_lines(block, b, piece, shared.b[stage]);
            next.advance(place);
        }
        block.commit_copies();
    }

    template <unsigned kLines, unsigned kPlanes>
    static ASSAY_SIMT void copy_lines(const SimtBlock& block, const CopiedDigits<kLines, kPlanes>& lines,
                                      std::uint64_t piece, std::uint32_t (&to)[kPlanes][kLines * kWords]) {
        using From = CopiedDigits<kLines, kPlanes>;
        const std::uint64_t offset = piece * (kPlanes * kPieceWords);
        ASSAY_UNROLL
        for (unsigned i = 0; i < From::kCopies; ++i) {
            const unsigned at = block.thread() + i * kThreads, line = at / From::kChunks;
            const unsigned chunk = at % From::kChunks;
            const bool valid = line < lines.count;
            block.copy16(&to[chunk / 4][swizzled_word(line, chunk % 4 * 4)],
                         valid ? lines.from(block, i) + offset : lines.own, valid);
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

    // Begins with what the outputs hold, as if an earlier block had left it.
    static ASSAY_SIMT void load(const SimtBlock& block, const Args& args, const CutWork& work) {
        Shared& shared = block.template shared<Shared>();
        const Outputs from(block, args, work.row, work.column);
        ASSAY_UNROLL_BY(16)
        for (unsigned at = 0; at < kNumbers; ++at)
            shared.values[at][block.thread()] = from.has(at) ? args.c.get(from.place(at)) : 0.0F;
    }

    // Adds a block's sums to the values so far, and stores the outputs after the last block.
    static ASSAY_SIMT void finish_block(const SimtBlock& block, const Args& args, const CutWork& work,
                                        unsigned k, const Sums& sums) {
        const Shared& shared = block.template shared<Shared>();
        bool unusual = false;
        ASSAY_UNROLL
        for (unsigned warp = 0; warp < kThreads / kWarp; ++warp) unusual |= shared.unusual[k % 2][warp];
        if (unusual) {
            finish_numbers<false>(block, args, work, k, sums);
        } else {
            finish_numbers<true>(block, args, work, k, sums);
        }
    }

    template <bool kSmall>
    static ASSAY_SIMT void finish_numbers(const SimtBlock& block, const Args& args, const CutWork& work,
                                          unsigned k, const Sums& sums) {
        constexpr unsigned kTogether =
            kPlanesA == 3 ? 8 : 16;  // numbers that are finished before any is stored
        Shared& shared = block.template shared<Shared>();
        const Outputs to(block, args, work.row, work.column);
        const std::int32_t of_rows[2] = {shared.row_exponents[k % 2][to.own_row],
                                         shared.row_exponents[k % 2][to.own_row + 8]};
        const std::int32_t* const of_columns = shared.column_exponents[k % 2] + to.own_column;
        const bool last = k + 1 == work.end, is_part = work.part != kNoPart;
        const bool adds = k != 0 || args.carry;
        AllFinite finite;
        ASSAY_UNROLL
        for (unsigned begin = 0; begin < kNumbers; begin += kTogether) {
            float values[kTogether];
            ASSAY_UNROLL
            for (unsigned i = 0; i < kTogether; ++i) {
                const unsigned at = begin + i;
                std::int32_t digits[kWeights];
                ASSAY_UNROLL
                for (unsigned weight = 0; weight < kWeights; ++weight) digits[weight] = sums[weight][at];
                std::int64_t sum = sum_of(digits);
                if (kFault == ProductFault::kCutSum) sum = sum / 128 * 128;
                const std::int32_t exponent = of_rows[at / 2 % 2] + of_columns[at / 4 * 8 + at % 2];
                const float value = kSmall ? finish_small(sum, exponent) : finish(sum, exponent);
                // A part is not added to +0 here: that would turn −0 into +0.
                values[i] = is_part ? value : add_rn(adds ? shared.values[at][block.thread()] : 0.0F, value);
            }
            ASSAY_UNROLL
            for (unsigned i = 0; i < kTogether; i += 2) {
                const unsigned at = begin + i;
                if (is_part) {
                    const std::uint64_t part = part_of(work.part, at, block.thread());
                    args.parts.set(part, values[i]);
                    args.parts.set(part + kThreads, values[i + 1]);
                } else if (last) {
                    store(block, args, to, at, values[i], values[i + 1], finite);
                } else {
                    shared.values[at][block.thread()] = values[i];
                    shared.values[at + 1][block.thread()] = values[i + 1];
                }
            }
        }
        if (last && !is_part) args.watch.note(block, finite.found());
    }

    // Two neighbours in a row.
    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, const Outputs& to, unsigned at,
                                 float one, float other, AllFinite& finite) {
        if (kMask == Mask::kLower) {
            one = mul_rn(one, args.scale);
            other = mul_rn(other, args.scale);
        }
        if (args.bias != nullptr) {
            const float* const bias = block.template shared<Shared>().bias + to.own_column + at / 4 * 8;
            one = add_rn(one, bias[0]);
            other = add_rn(other, bias[1]);
        }
        if (to.whole && to.pairs) {
            finite.see(one);
            finite.see(other);
            return args.c.set2(to.place(at), one, other);
        }
        if (!to.has(at)) return;
        finite.see(one);
        args.c.set(to.place(at), one);
        if (!to.has(at + 1)) return;
        finite.see(other);
        args.c.set(to.place(at + 1), other);
    }
};

/// Adds the parts that ProductI16Wide with kCut stored to the outputs, in the order of k, and checks that
/// these are finite. Grid: eighths of a tile's numbers, tiles.
template <unsigned kPlanesA, unsigned kColumns>
struct AddPartsI16 {
    using Product = ProductI16Wide<kPlanesA, kColumns, Mask::kNone, true>;
    static constexpr unsigned kThreads = Product::kThreads;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    static constexpr unsigned kOwn = Product::kNumbers / 8;  // numbers of a thread
    static_assert(kOwn % 2 == 0);
    using Args = ProductI16Args;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.c);
    }
    static Grid grid(const Args& args) {
        return {8, static_cast<unsigned>(Product::counts(args).tiles) - args.split.whole, 1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const typename Product::TileGrid tiles(args);
        const unsigned later = tiles.across * tiles.down - args.split.whole;
        const unsigned tile = args.split.whole + block.y();
        const typename Product::Outputs to(block, args, tile / tiles.across * Product::kRows,
                                           tile % tiles.across * kColumns);
        float values[kOwn];
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            const unsigned at = block.x() * kOwn + i;
            values[i] = to.has(at) ? args.c.get(to.place(at)) : 0.0F;
        }
        for (unsigned part = block.y(); part < args.split.parts; part += later) {
            ASSAY_UNROLL
            for (unsigned i = 0; i < kOwn; ++i) {
                const std::uint64_t at = Product::part_of(part, block.x() * kOwn + i, block.thread());
                values[i] = add_rn(values[i], read(args.parts.data + at));
            }
        }
        AllFinite finite;
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            const unsigned at = block.x() * kOwn + i;
            if (!to.has(at)) continue;
            finite.see(values[i]);
            args.c.set(to.place(at), values[i]);
        }
        args.watch.note(block, finite.found());
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
