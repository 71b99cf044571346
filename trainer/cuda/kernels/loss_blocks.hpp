// SPDX-License-Identifier: Apache-2.0
// The same as loss_rows.hpp for long rows, where a block's shared memory has room for one: memory is read and
// written once, and an exponential is computed once. A block works on one row after another. It copies the
// next row into the places of the present one as they become free.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/loss_rows.hpp"
#include "trainer/cuda/kernels/quotient.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Quotients by one divisor, with the bits of div_rn (quotient.hpp).
class CommonDivisor {
public:
    /// The smallest dividend for divide().
    static constexpr float kLeast = 0x1p-100F;

    /// `reciprocal` is div_rn(1, value).
    ASSAY_SIMT CommonDivisor(float value, float reciprocal)
        : value_(value), reciprocal_(reciprocal), easy_(value >= 1.0F && value <= 0x1p24F) {}
    [[nodiscard]] ASSAY_SIMT float value() const { return value_; }
    /// Whether divide() may be used.
    [[nodiscard]] ASSAY_SIMT bool is_easy() const { return easy_; }
    /// a / value. REQUIRES is_easy() and kLeast <= a <= value.
    [[nodiscard]] ASSAY_SIMT float divide(float a) const { return quotient(a, value_, reciprocal_); }

private:
    float value_, reciprocal_;
    bool easy_;
};

/// Grid: `blocks` of the arguments.
template <bool kGradient, LossFault kFault = LossFault::kNone>
struct LossBlocks {
    static constexpr unsigned kThreads = 1024;
    static constexpr unsigned kWarps = kThreads / kWarp;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = true;
    static constexpr unsigned kQuads = 56 * 256;  // 224 of the 227 KiB that a block may have
    /// The longest row that fits wherever it begins between two addresses of 16 bytes.
    static constexpr std::uint64_t kMostCols = 4 * kQuads - 3;
    using Args = LossRowsArgs;
    struct Shared {
        alignas(16) float row[4 * kQuads];
        float max[kWarps];
        float sum;
        float reciprocal;  // of the sum: a compiler would compute it again for every quad
        float of_target;
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.logits);
        visit(args.losses);
    }
    static Grid grid(const Args& args) { return {static_cast<unsigned>(args.blocks), 1, 1}; }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        Row next = row_of(args, block.x());
        copy_row(block, args, next);
        for (std::uint64_t at = block.x(); at < args.rows; at += args.blocks) {
            const Row row = next;
            next = row_of(args, at + args.blocks);
            const std::uint32_t target = args.targets[at];
            block.template wait_copies<0>();
            const float max = largest(block, args, row, target);
            const float part = exponentials(block, row, max);
            if (block.warp() == 0) finish(block, args, at, row.skew + target, part, max);
            block.sync();
            if constexpr (kGradient) {
                gradient(block, args, row, next, target);
            } else {
                copy_row(block, args, next);
            }
        }
        block.template wait_copies<0>();
    }

private:
    static constexpr unsigned kWorkers = kThreads - kWarp;  // threads that compute exponentials
    static constexpr unsigned kAhead = 31;                  // numbers that a lane loads before it adds them

    // A row in shared memory, in quads of four numbers that begin at addresses of 16 bytes in memory and
    // here. Thread t copies and writes quads t, t + kThreads, ...; nothing of them has to wait for other
    // threads.
    struct Row {
        std::uint64_t start = 0;  // of the row in the logits
        unsigned skew = 0;        // numbers of the first quad that lie before the row
        unsigned end = 0;         // skew + numbers of the row
        unsigned quads = 0;       // 0: there is no row

        [[nodiscard]] ASSAY_SIMT bool is_whole(unsigned quad) const {
            return (quad != 0 || skew == 0) && 4 * quad + 4 <= end;
        }
        [[nodiscard]] ASSAY_SIMT bool has(unsigned number) const { return number >= skew && number < end; }
        // Where number `number` of the quads lies in the logits.
        [[nodiscard]] ASSAY_SIMT std::uint64_t place(unsigned number) const { return start + number - skew; }
    };

    static ASSAY_SIMT Row row_of(const Args& args, std::uint64_t at) {
        if (at >= args.rows) return {};
        Row row;
        row.start = at * args.cols;
        row.skew = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(args.logits.data + row.start) /
                                         sizeof(float) % 4);
        row.end = row.skew + static_cast<unsigned>(args.cols);
        row.quads = (row.end + 3) / 4;
        return row;
    }

    static ASSAY_SIMT void copy_row(const SimtBlock& block, const Args& args, const Row& row) {
        for (unsigned quad = block.thread(); quad < row.quads; quad += kThreads) copy(block, args, row, quad);
        block.commit_copies();
    }

    static ASSAY_SIMT void copy(const SimtBlock& block, const Args& args, const Row& row, unsigned quad) {
        float* const to = block.template shared<Shared>().row + std::size_t{4} * quad;
        if (row.is_whole(quad)) return block.copy16(to, args.logits.data + row.place(4 * quad), true);
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned number = 4 * quad + i;
            if (row.has(number)) block.copy4(to + i, args.logits.data + row.place(number), true);
        }
    }

    // The row's maximum, in every thread. Whether it is the first of equal ones cannot be seen: of −0 and +0
    // the differences from it have the same exponential and the same loss. A NaN is passed over; it is noted.
    static ASSAY_SIMT float largest(const SimtBlock& block, const Args& args, const Row& row,
                                    std::uint32_t target) {
        Shared& shared = block.template shared<Shared>();
        float max = from_bits(static_cast<std::int32_t>(0xff800000U));
        AllFinite finite;
        const auto see = [&](float x) {
            finite.see(x);
            max = larger_of(max, x);
        };
        for (unsigned quad = block.thread(); quad < row.quads; quad += kThreads) {
            float x[4];
            load4(shared.row + std::size_t{4} * quad, x);
            if (row.is_whole(quad)) {
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i) see(x[i]);
            } else {
                for (unsigned i = 0; i < 4; ++i) {
                    if (row.has(4 * quad + i)) see(x[i]);
                }
            }
        }
        args.before.note(block, finite.found());
        // No exponential replaces it before the barrier.
        const unsigned own = row.skew + target;
        if (own / 4 % kThreads == block.thread()) shared.of_target = shared.row[own];
        max = among_lanes(block, max);
        if (block.lane() == 0) shared.max[block.warp()] = max;
        block.sync();
        return among_lanes(block, shared.max[block.lane()]);
    }
    static ASSAY_SIMT float among_lanes(const SimtBlock& block, float max) {
        ASSAY_UNROLL
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2)
            max = larger_of(max, block.shfl_xor(max, lanes));
        return max;
    }

    // Replaces the row by its exponentials. The first warp adds those that the others have computed before
    // the last barrier: its lanes are the law's, and a lane's chain cannot be made shorter, only hidden.
    // Returns what a lane has when the row's last turns are yet to be added.
    static ASSAY_SIMT float exponentials(const SimtBlock& block, const Row& row, float max) {
        float* const numbers = block.template shared<Shared>().row;
        float part = 0.0F;
        unsigned done = row.skew;
        for (unsigned first = 0; first < row.quads; first += kWorkers) {
            const unsigned quad = first + block.thread() - kWarp;
            if (block.warp() == 0) {
                add(block, done, 4 * first, part);
            } else if (quad < row.quads) {
                // Of a quad at an end some numbers are nobody's.
                float x[4];
                load4(numbers + std::size_t{4} * quad, x);
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i) x[i] = exp32(sub_rn(x[i], max));
                store4(numbers + std::size_t{4} * quad, x);
            }
            block.sync();
        }
        if (block.warp() == 0) {
            add(block, done, row.end, part);
            for (; done < row.end; done += kAhead * kWarp) {
                // What lies beyond the row adds +0, which changes no sum of exponentials.
                float x[kAhead];
                ASSAY_UNROLL
                for (unsigned n = 0; n < kAhead; ++n) {
                    const unsigned number = done + n * kWarp + block.lane();
                    x[n] = number < row.end ? numbers[number] : 0.0F;
                }
                ASSAY_UNROLL
                for (unsigned n = 0; n < kAhead; ++n) part = add_rn(part, x[n]);
            }
        }
        return part;
    }
    // Adds whole batches of turns from `done` on, up to number `ready`.
    static ASSAY_SIMT void add(const SimtBlock& block, unsigned& done, unsigned ready, float& part) {
        const float* const numbers = block.template shared<Shared>().row;
        for (; done + kAhead * kWarp <= ready; done += kAhead * kWarp) {
            float x[kAhead];
            ASSAY_UNROLL
            for (unsigned n = 0; n < kAhead; ++n) x[n] = numbers[done + n * kWarp + block.lane()];
            ASSAY_UNROLL
            for (unsigned n = 0; n < kAhead; ++n) part = add_rn(part, x[n]);
        }
    }

    // The first warp's: the row's sum and its loss. `own` is the target's place.
    static ASSAY_SIMT void finish(const SimtBlock& block, const Args& args, std::uint64_t at, unsigned own,
                                  float part, float max) {
        Shared& shared = block.template shared<Shared>();
        const float sum = fold_lanes(block, part);
        if (block.lane() != 0) return;
        shared.sum = sum;
        shared.reciprocal = div_rn(1.0F, sum);
        const float of_target = kFault == LossFault::kLateTarget ? shared.row[own] : shared.of_target;
        const float loss = sub_rn(log32(sum), sub_rn(of_target, max));
        args.losses.set(at, loss);
        args.loss.note(block, is_finite(loss));
    }

    // Writes the row's gradient (of sums within the limits no exponential is larger than its row's) and
    // copies the next row's quads into the places.
    static ASSAY_SIMT void gradient(const SimtBlock& block, const Args& args, const Row& row, const Row& next,
                                    std::uint32_t target) {
        const Shared& shared = block.template shared<Shared>();
        const CommonDivisor by(shared.sum, shared.reciprocal);
        const unsigned own = row.skew + target;
        const unsigned last = row.quads > next.quads ? row.quads : next.quads;
        for (unsigned quad = block.thread(); quad < last; quad += kThreads) {
            if (quad < row.quads) {
                float x[4];
                load4(shared.row + std::size_t{4} * quad, x);
                divide4(by, x);
                if (own / 4 == quad) {
                    ASSAY_UNROLL
                    for (unsigned i = 0; i < 4; ++i) x[i] = own % 4 == i ? sub_rn(x[i], 1.0F) : x[i];
                }
                ASSAY_UNROLL
                for (unsigned i = 0; i < 4; ++i) x[i] = mul_rn(x[i], args.number);
                put(args, row, quad, x);
            }
            if (quad < next.quads) copy(block, args, next, quad);
        }
        block.commit_copies();
    }
    static ASSAY_SIMT void divide4(const CommonDivisor& by, float (&x)[4]) {
        bool easy = by.is_easy();
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) easy = easy && x[i] >= CommonDivisor::kLeast;
        if (easy) {
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i) x[i] = by.divide(x[i]);
        } else {
            ASSAY_UNROLL
            for (unsigned i = 0; i < 4; ++i) x[i] = div_rn(x[i], by.value());
        }
    }
    static ASSAY_SIMT void put(const Args& args, const Row& row, unsigned quad, const float (&x)[4]) {
        if (row.is_whole(quad)) return args.logits.set4(row.place(4 * quad), x);
        for (unsigned i = 0; i < 4; ++i) {
            if (row.has(4 * quad + i)) args.logits.set(row.place(4 * quad + i), x[i]);
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
