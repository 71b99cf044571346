// SPDX-License-Identifier: Apache-2.0
// Products of profile f32 (contracts/arithmetic/product.hpp, attention.hpp). Every output is one chain of
// fused multiply-adds over ascending k, from +0 or from what it holds, so k is never divided among threads.
// Two tiles of shared memory take turns: one is filled while the other is multiplied.
#pragma once

#include "trainer/cuda/kernels/operand.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct ProductF32Args {
    unsigned m = 0, n = 0, k = 0;
    OperandView a;  ///< [m,k]
    OperandView b;  ///< [k,n]
    OutputArray<float> c;
    OperandPlace to;              ///< place of c; the numbers of its rows lie side by side (col_stride 1)
    const float* bias = nullptr;  ///< [n], added after the chain; null: none
    float scale = 1.0F;           ///< kLower: the chain's value is multiplied by it
    bool carry = false;           ///< chains begin with what c holds
    NumberWatch watch;            ///< watches what is written to c
};

/// A block computes kRows × kColumns outputs of one matrix, a thread kOwn × kOwn of them. Grid: columns,
/// rows, matrices.
template <unsigned kRows, unsigned kColumns, unsigned kOwn, Mask kMask,
          ProductFault kFault = ProductFault::kNone>
struct ProductF32 {
    static constexpr unsigned kStep = 16;  // k of a tile
    static constexpr unsigned kAcross = kColumns / kOwn;
    static constexpr unsigned kThreads = kAcross * (kRows / kOwn);
    static constexpr unsigned kBlocks = 2;
    static constexpr bool kWaits = true;
    static constexpr unsigned kSkew = 4;
    static_assert(kOwn % 4 == 0);

    using Args = ProductF32Args;
    struct Shared {
        alignas(16) float a[2][kStep][kRows + kSkew];
        alignas(16) float b[2][kStep][kColumns + kSkew];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.c);
    }
    static Grid grid(const Args& args, unsigned matrices) {
        return {(args.n + kColumns - 1) / kColumns, (args.m + kRows - 1) / kRows, matrices};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const unsigned row = block.y() * kRows, column = block.x() * kColumns;
        if (kMask == Mask::kLower && column > row + kRows - 1) return;
        // A thread's rows and columns lie four by four, so that neighbours read shared memory side by side.
        const unsigned down = block.thread() / kAcross * 4, across = block.thread() % kAcross * 4;
        float sums[kOwn][kOwn];
        const std::uint64_t matrix = args.to.matrix(block.z());
        load(args, matrix, row + down, column + across, sums);
        const unsigned first = kMask == Mask::kFromOn ? row : 0;
        const unsigned end = kMask == Mask::kUpTo && row + kRows < args.k ? row + kRows : args.k;
        const unsigned tiles = first < end ? (end - first + kStep - 1) / kStep : 0;
        const OperandPlace &pa = args.a.place, &pb = args.b.place;
        const CopiedTile<kRows> a(block, args.a.data + pa.matrix(block.z()), {pa.row_stride, pa.col_stride},
                                  row, args.m);
        const CopiedTile<kColumns> b(block, args.b.data + pb.matrix(block.z()),
                                     {pb.col_stride, pb.row_stride}, column, args.n);
        stage(block, a, b, first, end, 0);
        for (unsigned tile = 0; tile < tiles; ++tile) {
            const unsigned k = first + tile * kStep;
            stage(block, a, b, k + kStep, end, (tile + 1) % 2);
            block.template wait_copies<1>();
            block.sync();
            multiply(block, k, end, row + down, tile % 2, down, across, sums);
            if (kFault != ProductFault::kMissingBarrier) block.sync();
        }
        block.template wait_copies<0>();
        store(block, args, matrix, row + down, column + across, sums);
    }

private:
    struct Strides {
        std::uint64_t own = 0;  // of rows of A, columns of B
        std::uint64_t k = 0;
    };

    // How the tiles of an operand are copied.
    enum class CopyWay : std::uint8_t {
        kFours,   ///< four rows or columns that lie side by side at a time
        kAlongK,  ///< one by one, for neighbours along k that lie side by side and whole tiles
        kCut,     ///< one by one, with zeros for numbers beyond the operand
    };

    // The part of an operand's tile at k = 0 that a thread copies. It is found once: finding it again for
    // each tile would cost more than the product.
    template <unsigned kExtent>
    struct CopiedTile {
        static constexpr unsigned kCopies = kStep * kExtent / kThreads;
        static_assert(kThreads % kExtent == 0 && kThreads % kStep == 0 && kCopies % 4 == 0);
        const float* data;  // the thread's first number
        Strides strides;
        std::uint64_t next;  // from a number of the thread to its next
        unsigned count;      // of rows or columns from the tile's first on
        unsigned step, own;  // of the thread's first number
        bool by_k;           // whether neighbouring threads copy neighbours along k, which lie side by side
        CopyWay way;

        ASSAY_SIMT CopiedTile(const SimtBlock& block, const float* matrix, Strides by, unsigned begin,
                              unsigned limit)
            : strides(by), count(limit - begin), by_k(by.k == 1) {
            const unsigned i = block.thread();
            const bool fours = by.own == 1 && by.k % 4 == 0 && is_aligned16(matrix);
            way = count < kExtent || !(fours || by_k) ? CopyWay::kCut
                  : fours                             ? CopyWay::kFours
                                                      : CopyWay::kAlongK;
            step = way == CopyWay::kFours ? i / (kExtent / 4) : by_k ? i % kStep : i / kExtent;
            own = way == CopyWay::kFours ? i % (kExtent / 4) * 4 : by_k ? i / kStep : i % kExtent;
            data = matrix + (begin + own) * by.own + step * by.k;
            next = way == CopyWay::kFours ? 4 * kThreads / kExtent * by.k
                   : by_k                 ? kThreads / kStep * by.own
                                          : kThreads / kExtent * by.k;
        }
    };

    static ASSAY_SIMT unsigned spread(unsigned i, unsigned extent) {
        return i / 4 * (extent / kOwn * 4) + i % 4;
    }

    // Copies the tile of both operands from `k` on, if there is one.
    static ASSAY_SIMT void stage(const SimtBlock& block, const CopiedTile<kRows>& a,
                                 const CopiedTile<kColumns>& b, unsigned k, unsigned end, unsigned turn) {
        Shared& shared = block.template shared<Shared>();
        if (k < end) {
            copy<kRows>(block, a, k, end, shared.a[turn]);
            copy<kColumns>(block, b, k, end, shared.b[turn]);
        }
        block.commit_copies();
    }

    template <unsigned kExtent>
    static ASSAY_SIMT void copy(const SimtBlock& block, const CopiedTile<kExtent>& source, unsigned k,
                                unsigned end, float (&to)[kStep][kExtent + kSkew]) {
        constexpr unsigned kPitch = kExtent + kSkew, kCopies = CopiedTile<kExtent>::kCopies;
        const float* from = source.data + k * source.strides.k;
        float* const at = &to[source.step][source.own];
        if (k + kStep > end || source.way == CopyWay::kCut) {
            copy_cut<kExtent>(block, source, k, end, from, at);
        } else if (source.way == CopyWay::kFours) {
            ASSAY_UNROLL
            for (unsigned i = 0; i < kCopies / 4; ++i, from += source.next)
                block.copy16(at + i * (4 * kThreads / kExtent) * kPitch, from, true);
        } else {
            ASSAY_UNROLL
            for (unsigned i = 0; i < kCopies; ++i, from += source.next)
                block.copy4(at + i * (kThreads / kStep), from, true);
        }
    }

    // Numbers beyond the operand, or beyond the last k, become zeros.
    template <unsigned kExtent>
    static ASSAY_SIMT void copy_cut(const SimtBlock& block, const CopiedTile<kExtent>& source, unsigned k,
                                    unsigned end, const float* from, float* at) {
        constexpr unsigned kPitch = kExtent + kSkew;
        const bool fours = source.way == CopyWay::kFours;
        const unsigned copies = CopiedTile<kExtent>::kCopies / (fours ? 4 : 1);
        const unsigned more_own = !fours && source.by_k ? kThreads / kStep : 0;
        const unsigned more_steps = fours ? 4 * kThreads / kExtent : source.by_k ? 0 : kThreads / kExtent;
        unsigned step = k + source.step, own = source.own;
        ASSAY_NO_UNROLL
        for (unsigned i = 0; i < copies; ++i) {
            const bool valid = step < end && own < source.count;
            if (fours) {
                block.copy16(at, valid ? from : source.data, valid);
            } else {
                block.copy4(at, valid ? from : source.data, valid);
            }
            from += source.next;
            at += more_own + more_steps * kPitch;
            step += more_steps;
            own += more_own;
        }
    }

    static ASSAY_SIMT void multiply(const SimtBlock& block, unsigned k, unsigned end, unsigned row,
                                    unsigned turn, unsigned down, unsigned across,
                                    float (&sums)[kOwn][kOwn]) {
        const bool whole = kFault == ProductFault::kPaddedTail || k + kStep <= end;
        const bool masked =
            (kMask == Mask::kUpTo && k + kStep > row) || (kMask == Mask::kFromOn && k < row + kRows);
        if (whole && !masked) {
            ASSAY_UNROLL
            for (unsigned step = 0; step < kStep; ++step) add(block, turn, step, down, across, sums);
        } else if (!masked) {
            // Adding a zero for a term that does not exist would turn −0 into +0.
            for (unsigned step = 0; k + step < end; ++step) add(block, turn, step, down, across, sums);
        } else {
            for (unsigned step = 0; step < kStep && k + step < end; ++step) {
                add_masked(block, k + step, row, turn, step, down, across, sums);
            }
        }
    }

    static ASSAY_SIMT void fetch(const SimtBlock& block, unsigned turn, unsigned step, unsigned down,
                                 unsigned across, float (&left)[kOwn], float (&right)[kOwn]) {
        const Shared& shared = block.template shared<Shared>();
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; i += 4) {
            load4(&shared.a[turn][step][down + spread(i, kRows)], left + i);
            load4(&shared.b[turn][step][across + spread(i, kColumns)], right + i);
        }
    }

    static ASSAY_SIMT void add(const SimtBlock& block, unsigned turn, unsigned step, unsigned down,
                               unsigned across, float (&sums)[kOwn][kOwn]) {
        float left[kOwn], right[kOwn];
        fetch(block, turn, step, down, across, left, right);
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            ASSAY_UNROLL
            for (unsigned j = 0; j < kOwn; ++j) sums[i][j] = fma_rn(left[i], right[j], sums[i][j]);
        }
    }

    static ASSAY_SIMT void add_masked(const SimtBlock& block, unsigned k, unsigned row, unsigned turn,
                                      unsigned step, unsigned down, unsigned across,
                                      float (&sums)[kOwn][kOwn]) {
        float left[kOwn], right[kOwn];
        fetch(block, turn, step, down, across, left, right);
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            const unsigned own = row + spread(i, kRows);
            if (kMask == Mask::kUpTo ? k > own : k < own) continue;
            ASSAY_UNROLL
            for (unsigned j = 0; j < kOwn; ++j) sums[i][j] = fma_rn(left[i], right[j], sums[i][j]);
        }
    }

    static ASSAY_SIMT bool exists(const Args& args, unsigned i, unsigned j) {
        return i < args.m && j < args.n && (kMask != Mask::kLower || j <= i);
    }

    static ASSAY_SIMT void load(const Args& args, std::uint64_t matrix, unsigned row, unsigned column,
                                float (&sums)[kOwn][kOwn]) {
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn * kOwn; ++i) sums[i / kOwn][i % kOwn] = 0.0F;
        if (!args.carry) return;
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            const unsigned own = row + spread(i, kRows);
            const std::uint64_t line = matrix + own * args.to.row_stride;
            ASSAY_UNROLL
            for (unsigned j = 0; j < kOwn; ++j) {
                const unsigned other = column + spread(j, kColumns);
                if (exists(args, own, other)) sums[i][j] = args.c.get(line + other);
            }
        }
    }

    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, std::uint64_t matrix, unsigned row,
                                 unsigned column, const float (&sums)[kOwn][kOwn]) {
        AllFinite finite;
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            const unsigned own = row + spread(i, kRows);
            const std::uint64_t line = matrix + own * args.to.row_stride;
            ASSAY_UNROLL
            for (unsigned j = 0; j < kOwn; ++j) {
                const unsigned other = column + spread(j, kColumns);
                if (!exists(args, own, other)) continue;
                float value = sums[i][j];
                if (kMask == Mask::kLower) value = mul_rn(value, args.scale);
                if (args.bias != nullptr) value = add_rn(value, read(args.bias + other));
                args.c.set(line + other, value);
                finite.see(value);
            }
        }
        args.watch.note(block, finite.found());
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
