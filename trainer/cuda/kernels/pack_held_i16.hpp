// SPDX-License-Identifier: Apache-2.0
// Packs operands of profile i16 (pack_i16.hpp) where the threads of a block can hold all numbers of its lines
// in a block of k: it reads memory once, with all loads under way before the first number is used.
#pragma once

#include "trainer/cuda/kernels/pack_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Digits of a line that a thread of PackAcrossHeld makes at a time: 16 bytes of each plane.
inline constexpr unsigned kPatchDigits = 16;

/// Whether lines that lie side by side can be loaded four at a time.
inline bool can_take_fours(const PackArgs& args) {
    const OperandPlace& place = args.from.place;
    return is_aligned16(args.from.data) && place.col_stride % 4 == 0 && place.outer_stride % 4 == 0 &&
           place.inner_stride % 4 == 0 && args.place.lines % 4 == 0;
}

/// Packs lines that lie side by side (row_stride 1). A block of threads has kLines lines, a thread 64
/// numbers of them: patches of one line and 16 numbers along k, whose digits it stores 16 bytes at a time;
/// lanes beside each other along k fill whole sectors. With kFours it loads four lines at a time, of a matrix
/// of which can_take_fours. A block of k of more than kTurn numbers takes turns, of which the first pass
/// leaves the last in registers; the others are read again, the latest first. Grid: lines by kLines, blocks
/// of k, matrices.
template <unsigned kPlanes, unsigned kLines, unsigned kWarps, bool kFours,
          ProductFault kFault = ProductFault::kNone>
struct PackAcrossHeld {
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 16 / kWarps;  // so that 128 registers are left to a thread
    static constexpr bool kWaits = true;
    using Args = PackArgs;
    struct Shared {
        std::uint32_t most[kWarps][kLines];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.digits);
        visit(args.exponents);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        return {(args.place.lines + kLines - 1) / kLines, args.place.blocks(), matrices};
    }

private:
    static constexpr unsigned kPatches = 4;                      // of a thread in a turn
    static constexpr unsigned kSide = kFours ? kLines / 4 : 8;   // lanes side by side
    static constexpr unsigned kAlong = kWarp / kSide;            // and along k
    static constexpr unsigned kOwnLines = kLines / kSide;        // of a thread
    static constexpr unsigned kOwnAlong = kPatches / kOwnLines;  // and its patches along k
    static constexpr unsigned kWarpTurn = kOwnAlong * kAlong * kPatchDigits;
    static_assert(kLines % kSide == 0 && kPatches % kOwnLines == 0);

public:
    static constexpr unsigned kTurn = kWarps * kWarpTurn;  // numbers of a line
    static_assert(kTurn % kPieceDigits == 0);

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        Shared& shared = block.template shared<Shared>();
        const unsigned b = block.y(), first_line = block.x() * kLines + line_of(block, 0);
        const unsigned length = args.place.length(b), last = (length - 1) / kTurn;
        const ThreadLines of{
            packing::number_at(args.from, block.z(), first_line, b * args.place.block),
            args.from.place.col_stride,
            args.place.lines > first_line ? args.place.lines - first_line : 0,
            length,
        };
        float held[kPatches][kPatchDigits];
        std::uint32_t most[kOwnLines] = {};
        for (unsigned turn = 0; turn <= last; ++turn) {
            load(block, of, turn, held);
            ASSAY_UNROLL
            for (unsigned i = 0; i < kPatches * kPatchDigits; ++i)
                most[i % kOwnLines] = packing::larger(most[i % kOwnLines], held[i % kPatches][i / kPatches]);
        }
        packing::LineScale scales[kOwnLines];
        find_scales(block, shared, most, scales);
        if (block.warp() == 0 && block.lane() < kSide) {
            ASSAY_UNROLL
            for (unsigned own = 0; own < kOwnLines; ++own)
                if (own * kLineStep < of.lines)
                    args.exponents.set(args.place.exponent(block.z(), first_line + own * kLineStep, b),
                                       scales[own].exponent);
        }
        bool is_plain = true;
        ASSAY_UNROLL
        for (unsigned own = 0; own < kOwnLines; ++own) is_plain = is_plain && scales[own].is_plain;
        const std::uint64_t to = args.place.first_word(block.z(), first_line, b);
        const unsigned digits = 4 * args.place.block_words();
        for (unsigned step = 0; step * kTurn < digits; ++step) {
            const unsigned turn = step <= last ? last - step : step;
            if (step != 0) load(block, of, turn, held);
            if (is_plain) {
                store<true>(block, args, of, to, turn, held, scales);
            } else {
                store<false>(block, args, of, to, turn, held, scales);
            }
        }
    }

private:
    // Lines of a thread are neighbours if it loads them together.
    static constexpr unsigned kLineStep = kFours ? 1 : kSide;

    // From the thread's first line on.
    struct ThreadLines {
        const float* from;  // its first number in the block of k
        std::uint64_t stride;
        unsigned lines, length;
    };

    static ASSAY_SIMT unsigned line_of(const SimtBlock& block, unsigned own) {
        return block.lane() % kSide * (kFours ? kOwnLines : 1) + own * kLineStep;
    }
    // Where a thread's patch begins in the block of k.
    static ASSAY_SIMT unsigned place_of(const SimtBlock& block, unsigned turn, unsigned patch) {
        const unsigned along = patch / kOwnLines * kAlong + block.lane() / kSide;
        return turn * kTurn + block.warp() * kWarpTurn + along * kPatchDigits;
    }

    // Zeros beyond the last line and the block's end.
    static ASSAY_SIMT void load(const SimtBlock& block, const ThreadLines& of, unsigned turn,
                                float (&held)[kPatches][kPatchDigits]) {
        ASSAY_UNROLL
        for (unsigned patch = 0; patch < kPatches; patch += kOwnLines) {
            const unsigned first = place_of(block, turn, patch);
            unsigned count[kOwnLines];
            ASSAY_UNROLL
            for (unsigned own = 0; own < kOwnLines; ++own)
                count[own] = own * kLineStep < of.lines && first < of.length ? of.length - first : 0;
            const float* from = of.from + first * of.stride;
            ASSAY_UNROLL
            for (unsigned i = 0; i < kPatchDigits; ++i, from += of.stride) {
                float values[kOwnLines] = {};
                if (kFours) {
                    if (i < count[0]) read4(from, values);
                } else {
                    ASSAY_UNROLL
                    for (unsigned own = 0; own < kOwnLines; ++own)
                        if (i < count[own]) values[own] = read(from + own * kLineStep);
                }
                ASSAY_UNROLL
                for (unsigned own = 0; own < kOwnLines; ++own) held[patch + own][i] = values[own];
            }
        }
    }

    // From the maxima of the thread's own numbers.
    static ASSAY_SIMT void find_scales(const SimtBlock& block, Shared& shared,
                                       std::uint32_t (&most)[kOwnLines],
                                       packing::LineScale (&scales)[kOwnLines]) {
        ASSAY_UNROLL
        for (unsigned own = 0; own < kOwnLines; ++own) {
            for (unsigned lanes = kSide; lanes < kWarp; lanes *= 2) {
                const std::uint32_t lane_most = block.shfl_xor(most[own], lanes);
                most[own] = lane_most > most[own] ? lane_most : most[own];
            }
            if (block.lane() < kSide) shared.most[block.warp()][line_of(block, own)] = most[own];
        }
        if (kFault != ProductFault::kMissingBarrier) block.sync();
        ASSAY_UNROLL
        for (unsigned own = 0; own < kOwnLines; ++own) {
            ASSAY_UNROLL
            for (unsigned warp = 0; warp < kWarps; ++warp) {
                const std::uint32_t warp_most = shared.most[warp][line_of(block, own)];
                most[own] = warp_most > most[own] ? warp_most : most[own];
            }
            scales[own] = packing::scale_of<kPlanes>(most[own]);
        }
    }

    template <bool kPlain>
    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, const ThreadLines& of,
                                 std::uint64_t to, unsigned turn, const float (&held)[kPatches][kPatchDigits],
                                 const packing::LineScale (&scales)[kOwnLines]) {
        ASSAY_UNROLL
        for (unsigned patch = 0; patch < kPatches; ++patch) {
            const unsigned own = patch % kOwnLines, first = place_of(block, turn, patch);
            if (own * kLineStep >= of.lines || first >= 4 * args.place.block_words()) continue;
            if (kFault == ProductFault::kStaleDigits && first >= of.length) continue;
            std::uint32_t words[kPlanes][4];
            ASSAY_UNROLL
            for (unsigned word = 0; word < kPatchDigits / 4; ++word) {
                float values[4];
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i) values[i] = held[patch][4 * word + i];
                std::uint32_t of_planes[kPlanes];
                packing::digits_of<kPlain>(values, scales[own].exponent, of_planes);
                ASSAY_UNROLL
                for (unsigned plane = 0; plane < kPlanes; ++plane) words[plane][word] = of_planes[plane];
            }
            // All planes of a piece lie together.
            const std::uint64_t at = to + own * kLineStep * args.place.line_words() +
                                     first / kPieceDigits * (kPlanes * kPieceWords) +
                                     first % kPieceDigits / 4;
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < kPlanes; ++plane)
                args.digits.set4(at + plane * kPieceWords, words[plane]);
        }
    }
};

/// Packs short lines whose numbers are neighbours (col_stride 1), of at most kPieces pieces of digits in a
/// block of k: eight lanes a line, four lines at a time, and several such groups together. Grid: lines by
/// kBlockLines, blocks of k, matrices.
template <unsigned kPlanes, unsigned kPieces, ProductFault kFault = ProductFault::kNone>
struct PackShort {
    static constexpr unsigned kWarps = 4;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 6;
    static constexpr bool kWaits = true;
    static constexpr unsigned kBeside = kPieceWords / 8;  // words of a lane in a piece
    static constexpr unsigned kLanes = 8;                 // of a line
    static constexpr unsigned kOwnWords = kPieces * kPieceWords / kLanes;
    static constexpr unsigned kTogether = kWarp / kLanes;  // lines
    static constexpr unsigned kGroups = 8 / kOwnWords;
    static constexpr unsigned kBlockLines = kWarps * kGroups * kTogether;
    using Args = PackArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.digits);
        visit(args.exponents);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        return {(args.place.lines + kBlockLines - 1) / kBlockLines, args.place.blocks(), matrices};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const unsigned b = block.y(), length = args.place.length(b), lane = block.lane() % kLanes;
        const unsigned first_line =
            block.x() * kBlockLines + block.warp() * (kGroups * kTogether) + block.lane() / kLanes;
        const std::uint64_t row_stride = args.from.place.row_stride;
        const float* const from = packing::number_at(args.from, block.z(), first_line, b * args.place.block);
        float held[kGroups][kOwnWords][4];
        // One branch for all loads, so that nothing comes between them.
        if (row_stride % 4 == 0 && length % 4 == 0 && is_aligned16(from)) {
            load<true>(args, from, first_line, lane, length, held);
        } else {
            load<false>(args, from, first_line, lane, length, held);
        }
        std::uint32_t most[kGroups] = {};
        ASSAY_UNROLL
        for (unsigned i = 0; i < kGroups * kOwnWords * 4; ++i) {
            const unsigned group = i / (4 * kOwnWords);
            most[group] = packing::larger(most[group], held[group][i / 4 % kOwnWords][i % 4]);
        }
        ASSAY_UNROLL
        for (unsigned group = 0; group < kGroups; ++group) {
            for (unsigned lanes = kLanes / 2; lanes > 0; lanes /= 2) {
                const std::uint32_t lane_most = block.shfl_xor(most[group], lanes);
                most[group] = lane_most > most[group] ? lane_most : most[group];
            }
        }
        packing::LineScale scales[kGroups];
        bool is_plain = true;
        ASSAY_UNROLL
        for (unsigned group = 0; group < kGroups; ++group) {
            scales[group] = packing::scale_of<kPlanes>(most[group]);
            is_plain = is_plain && scales[group].is_plain;
        }
        if (is_plain) {
            store<true>(block, args, first_line, held, scales);
        } else {
            store<false>(block, args, first_line, held, scales);
        }
    }

private:
    template <bool kPlain>
    static ASSAY_SIMT void store(const SimtBlock& block, const PackArgs& args, unsigned first_line,
                                 const float (&held)[kGroups][kOwnWords][4],
                                 const packing::LineScale (&scales)[kGroups]) {
        const unsigned b = block.y(), lane = block.lane() % kLanes, length = args.place.length(b);
        const std::uint64_t to = args.place.first_word(block.z(), first_line, b);
        const std::uint64_t exponents = args.place.exponent(block.z(), first_line, b);
        ASSAY_UNROLL
        for (unsigned group = 0; group < kGroups; ++group) {
            if (first_line + group * kTogether >= args.place.lines) continue;
            if (lane == 0) args.exponents.set(exponents + group * kTogether, scales[group].exponent);
            ASSAY_UNROLL
            for (unsigned own = 0; own < kOwnWords; ++own)
                packing::put_word<kPlanes, kPlain, kFault>(
                    args, to + group * kTogether * args.place.line_words(), own % kBeside * kLanes + lane,
                    own / kBeside * kPieceWords, length, held[group][own], scales[group].exponent);
        }
    }
    template <bool kFours>
    static ASSAY_SIMT void load(const PackArgs& args, const float* from, unsigned first_line, unsigned lane,
                                unsigned length, float (&held)[kGroups][kOwnWords][4]) {
        ASSAY_UNROLL
        for (unsigned group = 0; group < kGroups; ++group) {
            const float* const line = from + group * kTogether * args.from.place.row_stride;
            const unsigned end = first_line + group * kTogether < args.place.lines ? length : 0;
            ASSAY_UNROLL
            for (unsigned own = 0; own < kOwnWords; ++own) {
                const unsigned k = 4 * (own * kLanes + lane);
                if (kFours) {
                    packing::load_four(line, k, end, held[group][own]);
                } else {
                    packing::load_each(line, 1, k, end, held[group][own]);
                }
            }
        }
    }
};

/// Packs long lines whose numbers are neighbours (col_stride 1), of at most kMost numbers in a block of k:
/// each block of threads a block of a line. Grid: lines, blocks of k, matrices.
template <unsigned kPlanes, unsigned kWarps, unsigned kOwnWords, ProductFault kFault = ProductFault::kNone>
struct PackLong {
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = kOwnWords > 8 ? 16 / kWarps : 32 / kWarps;
    static constexpr bool kWaits = true;
    static constexpr unsigned kMost = 4 * kOwnWords * kThreads;
    using Args = PackArgs;
    struct Shared {
        std::uint32_t most[kWarps];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.digits);
        visit(args.exponents);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        return {args.place.lines, args.place.blocks(), matrices};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        Shared& shared = block.template shared<Shared>();
        const unsigned line = block.x(), b = block.y(), length = args.place.length(b);
        const float* const from = packing::number_at(args.from, block.z(), line, b * args.place.block);
        float held[kOwnWords][4];
        // One branch for all loads, so that nothing comes between them.
        if (length % 4 == 0 && is_aligned16(from)) {
            ASSAY_UNROLL
            for (unsigned own = 0; own < kOwnWords; ++own)
                packing::load_four(from, 4 * (own * kThreads + block.thread()), length, held[own]);
        } else {
            ASSAY_UNROLL
            for (unsigned own = 0; own < kOwnWords; ++own)
                packing::load_each(from, 1, 4 * (own * kThreads + block.thread()), length, held[own]);
        }
        std::uint32_t most = 0;
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4 * kOwnWords; ++i) most = packing::larger(most, held[i / 4][i % 4]);
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
            const std::uint32_t lane_most = block.shfl_xor(most, lanes);
            most = lane_most > most ? lane_most : most;
        }
        if (block.lane() == 0) shared.most[block.warp()] = most;
        if (kFault != ProductFault::kMissingBarrier) block.sync();
        ASSAY_UNROLL
        for (unsigned warp = 0; warp < kWarps; ++warp)
            most = shared.most[warp] > most ? shared.most[warp] : most;
        const packing::LineScale scale = packing::scale_of<kPlanes>(most);
        if (block.thread() == 0) args.exponents.set(args.place.exponent(block.z(), line, b), scale.exponent);
        const std::uint64_t to = args.place.first_word(block.z(), line, b);
        if (scale.is_plain) {
            store<true>(block, args, to, length, held, scale.exponent);
        } else {
            store<false>(block, args, to, length, held, scale.exponent);
        }
    }

private:
    template <bool kPlain>
    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, std::uint64_t to, unsigned length,
                                 const float (&held)[kOwnWords][4], std::int32_t exponent) {
        ASSAY_UNROLL
        for (unsigned own = 0; own < kOwnWords; ++own)
            packing::put_word<kPlanes, kPlain, kFault>(args, to, block.thread(), own * kThreads, length,
                                                       held[own], exponent);
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
