// SPDX-License-Identifier: Apache-2.0
// The products of product_i16.hpp for compute capability 9.0, in large tiles, by instructions of whole
// warpgroups (wgmma), whose operands stay in shared memory. Digits, sums and order are the same, and so are
// the bits. If there are few tiles, or some are left over, those are cut along k (split_k.hpp):
// ProductI16Wide stores their parts, and AddPartsI16 adds these.
#pragma once

#include "trainer/cuda/kernels/wide_tiles.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The blocks of k of a product in large tiles.
enum class WideBlocks : std::uint8_t {
    kOne,      ///< a single one, added to +0
    kSeveral,  ///< any number, added in shared memory
    kCut,      ///< the same, as `args.split` says
};

/// A thread block is two warpgroups, each with 64 rows of a tile of 128 × kColumns outputs. It computes
/// tiles, or some blocks of k of a tile, one after another, and copies ahead across them: what the next one
/// needs is there when this one is finished. Grid: thread blocks, 1, matrices. REQUIRES k > 0, and outputs
/// that lie side by side in their rows. kCut is for one matrix; c is complete after AddPartsI16.
template <unsigned kPlanesA, unsigned kColumns, Mask kMask = Mask::kNone,
          WideBlocks kKind = WideBlocks::kSeveral, ProductFault kFault = ProductFault::kNone>
struct ProductI16Wide {
    static constexpr bool kCut = kKind == WideBlocks::kCut, kOne = kKind == WideBlocks::kOne;
    static_assert(kMask == Mask::kNone || (kMask == Mask::kLower && !kCut));
    static constexpr unsigned kPlanesB = 2;
    static constexpr unsigned kWeights = kPlanesA + kPlanesB - 1;
    static constexpr unsigned kGroups = 2, kRows = 64 * kGroups;
    static constexpr unsigned kThreads = 128 * kGroups;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = true;
    static constexpr unsigned kNumbers = kColumns / 2;  // outputs of a thread
    // Pieces of k in shared memory: two that are multiplied, the others copied ahead.
    static constexpr unsigned kStages = kOne ? 6 : kCut && kPlanesA == 2 ? 5 : 4, kAhead = kStages - 2;
    static constexpr unsigned kWords = kPieceWords;  // of a line of a tile in a plane
    static_assert(kColumns % 32 == 0 && (!kOne || kPlanesA == 2));

    using Args = ProductI16Args;
    struct Shared {
        alignas(1024) std::uint32_t a[kStages][kPlanesA][kRows * kWords];
        std::uint32_t b[kStages][kPlanesB][kColumns * kWords];
        float values[kOne ? 1 : kNumbers][kThreads];  // sums of the blocks of k so far
        // For this block of k and the one before, which other threads may still read.
        std::int32_t row_exponents[2][kRows];
        std::int32_t column_exponents[2][kColumns];
        bool unusual[2][kThreads / kWarp];   // whether a warp saw an exponent of large magnitude
        float bias[kCut ? 1 : 2][kColumns];  // for this tile and the one before
        float turned[kOne ? kThreads / kWarp : 1][kOne ? kWarp / 2 : 1]
                    [kWarp + 1];  // a warp's numbers by row
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.c);
        visit(args.parts);
    }
    /// At most `at_a_time` thread blocks for each matrix; 0: one for each piece of work.
    static Grid grid(const Args& args, unsigned matrices, unsigned at_a_time = 0) {
        const unsigned works = work_count(args);
        // A cut is planned for thread blocks that a card begins as others end.
        return {kCut || at_a_time == 0 || works < at_a_time ? works : at_a_time, 1, matrices};
    }
    /// Tiles, row by row, and after them their parts, with those of a block of k side by side.
    static ASSAY_BOTH unsigned work_count(const Args& args) {
        const TileGrid tiles(args);
        return tiles.across * tiles.down + (kCut ? args.split.parts : 0);
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

    /// The places of exponents and bias, which change with every block of k and with every tile.
    struct Turns {
        unsigned exponents, bias;
    };

    static constexpr unsigned kNoPart = ~0U;
    /// A piece of work: some blocks of k of a tile.
    struct CutWork {
        unsigned row, column;  // the tile's first
        unsigned begin, end;   // blocks of k
        unsigned part;         // the part that it is stored as; kNoPart: in c
    };

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const unsigned works = work_count(args), step = block.grid_x();
        PiecesAhead ahead(block, args, works);
        ASSAY_NO_UNROLL
        for (unsigned stage = 0; stage < kAhead; ++stage) {
            ahead.copy(block, stage);
            ahead.go_on(block, args);
        }
        unsigned at = first_work(args, block.x(), step, works), stage = 0;
        if (at >= works) return;
        CutWork work = work_of(args, at);
        LineNumbers numbers = numbers_of(block, args, work, work.begin);
        Turns turns{0, 0};
        // From one lane for all, so that the compiler knows that a warp has one number.
        const unsigned group = block.shfl(block.warp() / 4, 0);
        while (at < works) {
            at = first_work(args, at + step, step, works);
            const CutWork following = at < works ? work_of(args, at) : work;
            if (!kOne && args.carry && work.part == kNoPart) load(block, args, work);
            for (unsigned k = work.begin; k < work.end; ++k) {
                std::int32_t sums[kWeights][kNumbers];
                const unsigned tiles = tiles_of(args.a.place, k);
                share(block, numbers, turns);
                // They come while this block of k is multiplied.
                const bool last = k + 1 == work.end;
                numbers = numbers_of(block, args, last ? following : work, last ? following.begin : k + 1);
                clear(sums);
                hold(block, sums);
                for (unsigned tile = 0; tile < tiles; ahead.go_on(block, args)) {
                    // Short, so that a processor's nearest cache of instructions holds it.
                    do {
                        block.template wait_copies<kAhead - 1>();
                        block.share_with_wgmma();
                        block.sync();
                        multiply(block, group, stage, sums);
                        // All threads that passed the barrier have multiplied the piece of two turns ago.
                        ahead.copy(block, stage < 2 ? stage + kAhead : stage - 2);
                        stage = stage + 1 == kStages ? 0 : stage + 1;
                        block.template wgmma_wait<kFault == ProductFault::kMissingBarrier ? 2 : 1>();
                        ++tile;
                    } while (tile < tiles && ahead.left != 0);
                }
                block.template wgmma_wait<0>();
                hold(block, sums);
                finish_block(block, args, work, k, turns, sums);
                turns.exponents = 1 - turns.exponents;
            }
            turns.bias = 1 - turns.bias;
            work = following;
        }
        block.template wait_copies<0>();
    }

    using Outputs = WideOutputs<kRows, kColumns, kMask>;

private:
    using Sums = std::int32_t[kWeights][kNumbers];

    static ASSAY_SIMT CutWork work_of(const Args& args, unsigned at) {
        const unsigned blocks = kOne ? 1 : args.a.place.blocks();
        const TileGrid tiles(args);
        const unsigned count = tiles.across * tiles.down, whole = args.split.whole;
        const bool is_part = kCut && at >= count;
        const unsigned part = at - count;
        const unsigned tile = is_part ? whole + part % (count - whole) : at;
        const unsigned begin = is_part ? args.split.together + part / (count - whole) : 0;
        const unsigned end = is_part ? begin + 1 : !kCut || tile < whole ? blocks : args.split.together;
        return {tile / tiles.across * kRows, tile % tiles.across * kColumns, begin, end,
                is_part ? part : kNoPart};
    }

    // The first piece of work from `at` on, `step` apart, whose tile is computed.
    static ASSAY_SIMT unsigned first_work(const Args& args, unsigned at, unsigned step, unsigned works) {
        if constexpr (kMask == Mask::kLower) {
            for (; at < works; at += step) {
                const CutWork work = work_of(args, at);
                if (work.column <= work.row + kRows - 1) break;
            }
        }
        return at;
    }

    // Pieces of a block of k. None reaches across blocks.
    static ASSAY_SIMT unsigned tiles_of(const DigitPlace& place, unsigned k) {
        return (place.length(k) + kPieceDigits - 1) / kPieceDigits;
    }

    // What is copied ahead: the pieces of a piece of work, then those of the next.
    struct PiecesAhead {
        PieceCopies<kRows, kPlanesA, kThreads> a;
        PieceCopies<kColumns, kPlanesB, kThreads> b;
        unsigned works, at;  // pieces of work, and the present one
        unsigned left;       // pieces of it that are still to come

        ASSAY_SIMT PiecesAhead(const SimtBlock& block, const Args& args, unsigned count) : works(count) {
            go_to(block, args, first_work(args, block.x(), block.grid_x(), works));
        }
        /// Copies the next piece of the present work, if there is one.
        ASSAY_SIMT void copy(const SimtBlock& block, unsigned stage) {
            if (left != 0) {
                Shared& shared = block.template shared<Shared>();
                a.copy(block, shared.a[stage]);
                b.copy(block, shared.b[stage]);
                --left;
            }
            block.commit_copies();
        }
        /// Goes to the next work if nothing of this one is left.
        ASSAY_SIMT void go_on(const SimtBlock& block, const Args& args) {
            if (left == 0 && at < works)
                go_to(block, args, first_work(args, at + block.grid_x(), block.grid_x(), works));
        }

    private:
        ASSAY_SIMT void go_to(const SimtBlock& block, const Args& args, unsigned next) {
            at = next;
            left = 0;
            if (at >= works) return;
            const CutWork work = work_of(args, at);
            a.go_to(block, args.a, work.row, work.begin);
            b.go_to(block, args.b, work.column, work.begin);
            const DigitPlace& place = args.a.place;
            left = (work.end - work.begin - 1) * (place.block_words() / kPieceWords) +
                   tiles_of(place, work.end - 1);
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

    // What a thread brings for all: the exponents of a row and of a column in a block of k, and the column's
    // bias.
    struct LineNumbers {
        std::int32_t of_row, of_column;
        float bias;
    };
    static ASSAY_SIMT LineNumbers numbers_of(const SimtBlock& block, const Args& args, const CutWork& work,
                                             unsigned k) {
        static_assert(kRows + kColumns <= kThreads);
        const unsigned thread = block.thread(), column = work.column + thread - kRows;
        LineNumbers numbers{0, 0, 0.0F};
        if (thread < kRows) {
            numbers.of_row = exponent_of(args.a, block.z(), work.row + thread, k);
        } else if (thread - kRows < kColumns) {
            numbers.of_column = exponent_of(args.b, block.z(), column, k);
            if (!kCut && args.bias != nullptr && column < args.b.place.lines)
                numbers.bias = read(args.bias + column);
        }
        return numbers;
    }
    static ASSAY_SIMT void share(const SimtBlock& block, const LineNumbers& numbers, Turns turns) {
        Shared& shared = block.template shared<Shared>();
        const unsigned thread = block.thread();
        if (thread < kRows) {
            shared.row_exponents[turns.exponents][thread] = numbers.of_row;
        } else if (thread - kRows < kColumns) {
            shared.column_exponents[turns.exponents][thread - kRows] = numbers.of_column;
            if (!kCut) shared.bias[turns.bias][thread - kRows] = numbers.bias;
        }
        unsigned unusual = is_small(numbers.of_row) && is_small(numbers.of_column) ? 0 : 1;
        ASSAY_UNROLL
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) unusual |= block.shfl_xor(unusual, lanes);
        if (block.lane() == 0) shared.unusual[turns.exponents][block.warp()] = unusual != 0;
    }
    static ASSAY_SIMT std::int32_t exponent_of(const Digits& digits, unsigned z, unsigned line, unsigned k) {
        if (line >= digits.place.lines) return 0;
        const std::uint64_t first = z == 0 ? 0 : digits.place.exponent(digits.matrix(z), 0, 0);
        return digits.exponents[first + digits.place.exponent(0, line, k)];
    }

    static ASSAY_SIMT void multiply(const SimtBlock& block, unsigned group, unsigned stage, Sums& sums) {
        const Shared& shared = block.template shared<Shared>();
        const auto a = block.wgmma_tile(&shared.a[stage][0][group * 64 * kWords]);
        const auto b = block.wgmma_tile(shared.b[stage][0]);
        block.wgmma_begin();
        ASSAY_UNROLL
        for (unsigned step = 0; step < 2; ++step) {
            ASSAY_UNROLL
            for (unsigned i = 0; i < kPlanesA * kPlanesB; ++i) {
                const unsigned left = i / kPlanesB, right = i % kPlanesB;
                block.wgmma_s8(sums[left + right], a.from(left * kRows * kWords),
                               b.from(right * kColumns * kWords), step);
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
                                        unsigned k, Turns turns, const Sums& sums) {
        const Shared& shared = block.template shared<Shared>();
        bool unusual = args.a.place.length(k) > most_terms<kWeights>();
        ASSAY_UNROLL
        for (unsigned warp = 0; warp < kThreads / kWarp; ++warp)
            unusual |= shared.unusual[turns.exponents][warp];
        if (unusual) [[unlikely]] {
            finish_numbers<false>(block, args, work, k, turns, sums);
        } else {
            finish_numbers<true>(block, args, work, k, turns, sums);
        }
    }

    static constexpr unsigned kTogether = kPlanesA == 3 ? 8 : 16;  // numbers that a thread finishes at a time
    using Values = float[kTogether];

    template <bool kUsual>
    static ASSAY_SIMT void finish_numbers(const SimtBlock& block, const Args& args, const CutWork& work,
                                          unsigned k, Turns turns, const Sums& sums) {
        Shared& shared = block.template shared<Shared>();
        const Outputs to(block, args, work.row, work.column);
        const std::int32_t of_rows[2] = {shared.row_exponents[turns.exponents][to.own_row],
                                         shared.row_exponents[turns.exponents][to.own_row + 8]};
        const std::int32_t* const of_columns = shared.column_exponents[turns.exponents] + to.own_column;
        const bool last = kOne || k + 1 == work.end, is_part = kCut && work.part != kNoPart;
        const bool adds = !kOne && (k != 0 || args.carry);
        AllFinite finite;
        ASSAY_UNROLL
        for (unsigned begin = 0; begin < kNumbers; begin += kTogether) {
            Values values;
            ASSAY_UNROLL
            for (unsigned i = 0; i < kTogether; ++i) {
                const unsigned at = begin + i;
                std::int32_t digits[kWeights];
                ASSAY_UNROLL
                for (unsigned weight = 0; weight < kWeights; ++weight) digits[weight] = sums[weight][at];
                if (kFault == ProductFault::kCutSum) digits[0] = digits[0] / 128 * 128;
                const std::int32_t of_row = of_rows[at / 2 % 2], of_column = of_columns[at / 4 * 8 + at % 2];
                values[i] = kUsual ? mul_rn(round_sum(digits), power_of_two(of_row, of_column))
                                   : finish(sum_of(digits), of_row + of_column);
                // A part is not added to +0 here: that would turn −0 into +0.
                if (!is_part) values[i] = add_rn(adds ? shared.values[at][block.thread()] : 0.0F, values[i]);
            }
            if (is_part) {
                ASSAY_UNROLL
                for (unsigned i = 0; i < kTogether; ++i)
                    args.parts.set(part_of(work.part, begin + i, block.thread()), values[i]);
            } else if (last) {
                store(block, args, to, turns.bias, begin, values, finite);
            } else {
                ASSAY_UNROLL
                for (unsigned i = 0; i < kTogether; ++i) shared.values[begin + i][block.thread()] = values[i];
            }
        }
        if (last && !is_part) args.watch.note(block, finite.found());
    }

    // Stores the numbers from `begin` on.
    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, const Outputs& to, unsigned turn,
                                 unsigned begin, Values& values, AllFinite& finite) {
        if (kMask == Mask::kLower) {
            ASSAY_UNROLL
            for (unsigned i = 0; i < kTogether; ++i) values[i] = mul_rn(values[i], args.scale);
        }
        if (!kCut && args.bias != nullptr) {
            const float* const bias = block.template shared<Shared>().bias[turn] + to.own_column;
            ASSAY_UNROLL
            for (unsigned i = 0; i < kTogether; ++i)
                values[i] = add_rn(values[i], bias[(begin + i) / 4 * 8 + i % 2]);
        }
        if (to.whole && to.pairs) {
            ASSAY_UNROLL
            for (unsigned i = 0; i < kTogether; i += 2) {
                finite.see(values[i]);
                finite.see(values[i + 1]);
                args.c.set2(to.place(begin + i), values[i], values[i + 1]);
            }
            return;
        }
        if (kOne && to.is_tile) return store_rows(block, args, to, begin, values, finite);
        ASSAY_UNROLL
        for (unsigned i = 0; i < kTogether; ++i) {
            if (!to.has(begin + i)) continue;
            finite.see(values[i]);
            args.c.set(to.place(begin + i), values[i]);
        }
    }

    // The same in rows that begin anywhere, so that neighbours cannot be stored together: a row of the warp's
    // at a time.
    static ASSAY_SIMT void store_rows(const SimtBlock& block, const Args& args, const Outputs& to,
                                      unsigned begin, const Values& values, AllFinite& finite) {
        auto& turned = block.template shared<Shared>().turned[block.warp()];
        const unsigned row = block.lane() / 4, column = block.lane() % 4 * 2;
        block.sync_warp();  // all lanes have stored what lay there
        ASSAY_UNROLL
        for (unsigned i = 0; i < kTogether; ++i) {
            finite.see(values[i]);
            turned[row + i / 2 % 2 * 8][column + i / 4 * 8 + i % 2] = values[i];
        }
        block.sync_warp();
        const std::uint64_t first =
            to.upper - row * args.to.row_stride - column + begin / 4 * 8 + block.lane();
        ASSAY_UNROLL
        for (unsigned i = 0; i < kWarp / 2; ++i)
            args.c.set(first + i * args.to.row_stride, turned[i][block.lane()]);
    }
};

/// Adds the parts that ProductI16Wide with kCut stored to the outputs, in the order of k, and checks that
/// these are finite. Grid: eighths of a tile's numbers, tiles.
template <unsigned kPlanesA, unsigned kColumns>
struct AddPartsI16 {
    using Product = ProductI16Wide<kPlanesA, kColumns, Mask::kNone, WideBlocks::kCut>;
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
