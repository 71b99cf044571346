// SPDX-License-Identifier: Apache-2.0
// The two ends of a tile of product_i16_wide.hpp: how the pieces of its operands come into shared memory, and
// where its outputs lie.
#pragma once

#include "trainer/cuda/kernels/product_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The part of a tile's lines that a thread copies to shared memory: with two planes sixteen bytes of one
/// plane's piece of every kPitch-th line, with three of all planes. REQUIRES lines of less than 2^25 words.
template <unsigned kLines, unsigned kPlanes, unsigned kThreads>
struct PieceCopies {
    static constexpr unsigned kOwnPlanes = kPlanes == 2 ? 1 : kPlanes;  // of a thread
    static constexpr unsigned kChunks =
        kPieceWords / 4 * (kPlanes / kOwnPlanes);  // that threads copy of a line
    static constexpr unsigned kPitch = kThreads / kChunks;
    static_assert(kPitch % 8 == 0);       // lines of the same swizzle
    const std::uint32_t* next = nullptr;  // the first line's digits of the next piece
    unsigned pitch = 0;                   // words between the lines
    unsigned own = 0;                     // the first line's place in a plane, of the thread's first plane
    unsigned count = 0;                   // existing lines from the thread's first on

    // A thread's first line, and its first word of a piece in all planes. Eight neighbouring threads write to
    // every bank of shared memory: with two planes they have one of an even line and the other of an odd one.
    struct Own {
        unsigned line, word;
        explicit ASSAY_SIMT Own(unsigned thread) : line(thread / kChunks), word(thread % kChunks * 4) {
            if constexpr (kOwnPlanes == 1) {
                const unsigned quarter = thread / 4 % 4;
                line = thread / 16 * 2 + quarter % 2;
                word = (quarter ^ quarter / 2) % 2 * kPieceWords + thread % 4 * 4;
            }
        }
    };

    /// Goes to block b of the lines from `first` on.
    ASSAY_SIMT void go_to(const SimtBlock& block, const Digits& digits, unsigned first, unsigned b) {
        const auto [line, word] = Own(block.thread());
        const unsigned z = block.z();
        pitch = kPitch * static_cast<unsigned>(digits.place.line_words());
        own = word / kPieceWords * (kLines * kPieceWords) + swizzled_word(line, word % kPieceWords);
        count = first + line < digits.place.lines ? digits.place.lines - first - line : 0;
        const unsigned from = count != 0 ? first + line : 0;
        next = digits.words + digits.place.first_word(z == 0 ? 0 : digits.matrix(z), from, b) + word;
    }
    /// Copies a piece of all lines, zeros for missing ones, and goes on to the next.
    ASSAY_SIMT void copy(const SimtBlock& block, std::uint32_t (&to)[kPlanes][kLines * kPieceWords]) {
        static_assert(kLines % kPitch == 0);
        std::uint32_t* const tile = to[0];
        ASSAY_UNROLL
        for (unsigned line = 0; line < kLines; line += kPitch) {
            const bool valid = line < count;
            const std::uint32_t* const from = next + (valid ? line / kPitch * pitch : 0U);
            ASSAY_UNROLL
            for (unsigned plane = 0; plane < kOwnPlanes; ++plane)
                block.copy16(tile + own + line * kPieceWords + plane * kLines * kPieceWords,
                             from + plane * kPieceWords, valid);
        }
        next += kPlanes * kPieceWords;
    }
};

/// The places of a thread's outputs: pairs of neighbours, in two rows, eight columns apart.
template <unsigned kRows, unsigned kColumns, Mask kMask>
struct WideOutputs {
    unsigned own_row, own_column;  // in the tile
    unsigned rows, columns;        // existing ones from the thread's first on
    unsigned above, left_out;      // how far the first one's row is below the diagonal, or above it
    std::uint64_t upper, lower;    // the first output of both rows
    bool whole;                    // all of them exist
    bool is_tile;                  // those of all threads exist
    bool pairs;                    // two neighbours can be stored together

    ASSAY_SIMT WideOutputs(const SimtBlock& block, const ProductI16Args& args, unsigned first_row,
                           unsigned first_column)
        : own_row(block.warp() * 16 + block.lane() / 4), own_column(block.lane() % 4 * 2) {
        const unsigned row = first_row + own_row, column = first_column + own_column;
        rows = row < args.a.place.lines ? args.a.place.lines - row : 0;
        columns = column < args.b.place.lines ? args.b.place.lines - column : 0;
        upper = (block.z() == 0 ? 0 : args.to.matrix(block.z())) + args.to.row_stride * row + column;
        is_tile = kMask == Mask::kNone && first_row + kRows <= args.a.place.lines &&
                  first_column + kColumns <= args.b.place.lines;
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

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
