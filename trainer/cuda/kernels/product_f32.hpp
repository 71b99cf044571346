// SPDX-License-Identifier: Apache-2.0
// Gives devices the products of profile f32 (contracts/arithmetic/product.hpp, attention.hpp): every output
// is one chain of fused multiply-adds over k, ascending, from +0 or from what it holds. No part of k has a
// thread of its own. Two tiles of shared memory take turns: one is copied to while the other is multiplied.
#pragma once

#include "trainer/cuda/kernels/operand.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct ProductF32Args {
    unsigned m = 0, n = 0, k = 0;
    OperandView a;  ///< [m,k]
    OperandView b;  ///< [k,n]
    OutputArray<float> c;
    OperandPlace to;              ///< of c
    const float* bias = nullptr;  ///< [n], added after the chain; null: none
    float scale = 1.0F;           ///< kLower: the chain's value is multiplied by it
    bool carry = false;           ///< goes on from what c holds
};

/// A block makes kRows × kColumns outputs of one matrix, a thread kOwn × kOwn of them. Grid: columns, rows,
/// matrices.
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
        load(block, args, row + down, column + across, sums);
        const unsigned first = kMask == Mask::kFromOn ? row : 0;
        const unsigned end = kMask == Mask::kUpTo && row + kRows < args.k ? row + kRows : args.k;
        const unsigned tiles = first < end ? (end - first + kStep - 1) / kStep : 0;
        const OperandPlace &pa = args.a.place, &pb = args.b.place;
        // Neighbouring threads copy what lies side by side.
        const CopiedTile<kRows> a(block, args.a.data + pa.matrix(block.z()), {pa.row_stride, pa.col_stride},
                                  row, args.m, pa.col_stride == 1);
        const CopiedTile<kColumns> b(block, args.b.data + pb.matrix(block.z()),
                                     {pb.col_stride, pb.row_stride}, column, args.n, pb.col_stride != 1);
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
        store(block, args, row + down, column + across, sums);
    }

private:
    struct Strides {
        std::uint64_t own = 0;  // of rows of A, columns of B
        std::uint64_t k = 0;
    };

    // What a thread copies of an operand's tile at k = 0: found once, since a loop that found it again for
    // each tile would spend more on it than on the product.
    template <unsigned kExtent>
    struct CopiedTile {
        static constexpr unsigned kCopies = kStep * kExtent / kThreads;
        static_assert(kThreads % kExtent == 0 && kThreads % kStep == 0 && kStep * kExtent % kThreads == 0);
        const float* data;
        Strides strides;
        unsigned count;                // of rows or columns from the tile's first on
        unsigned step, own;            // the first number's place in the tile
        unsigned next_step, next_own;  // from a number to the thread's next one
        std::uint64_t first, next;     // where it lies, and how far the next one

        ASSAY_SIMT CopiedTile(const SimtBlock& block, const float* matrix, Strides by, unsigned begin,
                              unsigned limit, bool by_k)
            : data(matrix), strides(by), count(limit - begin) {
            const unsigned i = block.thread();
            step = by_k ? i % kStep : i / kExtent;
            own = by_k ? i / kStep : i % kExtent;
            next_step = by_k ? 0 : kThreads / kExtent;
            next_own = by_k ? kThreads / kStep : 0;
            first = (begin + own) * by.own + step * by.k;
            next = next_own * by.own + next_step * by.k;
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

    // What lies beyond an operand becomes zeros.
    template <unsigned kExtent>
    static ASSAY_SIMT void copy(const SimtBlock& block, const CopiedTile<kExtent>& source, unsigned k,
                                unsigned end, float (&to)[kStep][kExtent + kSkew]) {
        std::uint64_t at = source.first + k * source.strides.k;
        ASSAY_UNROLL
        for (unsigned i = 0; i < CopiedTile<kExtent>::kCopies; ++i) {
            const unsigned step = source.step + i * source.next_step, own = source.own + i * source.next_own;
            const bool valid = k + step < end && own < source.count;
            block.copy4(&to[step][own], source.data + (valid ? at : 0), valid);
            at += source.next;
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
            // A zero in place of a term that is not there would turn −0 into +0.
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

    static ASSAY_SIMT void load(const SimtBlock& block, const Args& args, unsigned row, unsigned column,
                                float (&sums)[kOwn][kOwn]) {
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            ASSAY_UNROLL
            for (unsigned j = 0; j < kOwn; ++j) {
                const unsigned own = row + spread(i, kRows), other = column + spread(j, kColumns);
                sums[i][j] = args.carry && exists(args, own, other)
                                 ? args.c.get(args.to.at(block.z(), own, other))
                                 : 0.0F;
            }
        }
    }

    static ASSAY_SIMT void store(const SimtBlock& block, const Args& args, unsigned row, unsigned column,
                                 const float (&sums)[kOwn][kOwn]) {
        ASSAY_UNROLL
        for (unsigned i = 0; i < kOwn; ++i) {
            ASSAY_UNROLL
            for (unsigned j = 0; j < kOwn; ++j) {
                const unsigned own = row + spread(i, kRows), other = column + spread(j, kColumns);
                if (!exists(args, own, other)) continue;
                float value = sums[i][j];
                if (kMask == Mask::kLower) value = mul_rn(value, args.scale);
                if (args.bias != nullptr) value = add_rn(value, args.bias[other]);
                args.c.set(args.to.at(block.z(), own, other), value);
            }
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
