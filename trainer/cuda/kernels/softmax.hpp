// SPDX-License-Identifier: Apache-2.0
// The softmax of attention as one kernel for each pass. A warp has a row of a square and keeps it in
// registers, so that a square is read once and written once; single operators (rows.hpp, pointwise.hpp) each
// read and write it. Numbers and order are the same (contracts/arithmetic/attention.hpp).
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/number_watch.hpp"
#include "trainer/cuda/kernels/warp_row.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The work of a SoftmaxRows kernel on a row, in place.
enum class SoftmaxKind : std::uint8_t {
    kForward,   ///< scores become probabilities; it keeps the row's maximum and sum
    kAgain,     ///< scores become the same probabilities, from the kept maximum and sum
    kGradient,  ///< the probabilities' gradient becomes that of the scores
};

/// What a mutant does wrong.
enum class SoftmaxFault : std::uint8_t {
    kNone,
    kOtherTree,  ///< lanes are not added in the law's order
};

struct SoftmaxArgs {
    std::uint64_t rows = 0;
    std::uint64_t context = 1;        ///< numbers from row to row; row r has r % context + 1
    OutputArray<float> square;        ///< input and output
    OutputArray<float> max, sum;      ///< kForward
    const float* kept_max = nullptr;  ///< kAgain
    const float* kept_sum = nullptr;  ///< kAgain
    const float* p = nullptr;         ///< kGradient: probabilities
    float scale = 1.0F;               ///< kGradient
    NumberWatch before;               ///< watches the square's input
    NumberWatch dot;                  ///< kGradient: watches the rows' dot products
    NumberWatch after;                ///< kGradient: watches what is written
};

/// Rows have at most 32 · kHeld numbers. kHeld = 0: any count, and numbers are read from memory again for
/// each use. The softmax of finite scores is finite, so only scores are checked.
template <SoftmaxKind kKind, unsigned kHeld, SoftmaxFault kFault = SoftmaxFault::kNone>
struct SoftmaxRows {
    static constexpr unsigned kWarps = 8;
    static constexpr unsigned kThreads = kWarps * kWarp;
    // A gradient needs more registers: the compiler loads much of the other square ahead.
    static constexpr unsigned kBlocks = kHeld <= 8 ? 4 : kKind == SoftmaxKind::kGradient ? 2 : 3;
    static constexpr bool kWaits = true;
    using Args = SoftmaxArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.square);
        visit(args.max);
        visit(args.sum);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.rows + kWarps - 1) / kWarps), 1, 1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t row = std::uint64_t{block.x()} * kWarps + block.warp();
        if (row >= args.rows) return;
        const auto count = static_cast<unsigned>(row % args.context) + 1;
        if constexpr (kKind == SoftmaxKind::kForward) forward(block, args, row, count);
        if constexpr (kKind == SoftmaxKind::kAgain) again(block, args, row, count);
        if constexpr (kKind == SoftmaxKind::kGradient) gradient(block, args, row, count);
    }

private:
    static constexpr RowFault kTree =
        kFault == SoftmaxFault::kOtherTree ? RowFault::kOtherTree : RowFault::kNone;

    // A lane's numbers of a row, n by n.
    class Lane {
    public:
        ASSAY_SIMT Lane(const float* row, unsigned lane, unsigned count) : row_(row) {
            each(lane, count, [&](unsigned n, unsigned i) {
                if constexpr (kHeld != 0) held_[n] = row_[i];
                static_cast<void>(n);
            });
        }
        ASSAY_SIMT float at(unsigned n, unsigned i) const {
            if constexpr (kHeld != 0) return held_[n];
            static_cast<void>(n);
            return row_[i];
        }
        // Keeps a new number for later reads, if numbers are held.
        ASSAY_SIMT void hold(unsigned n, float value) {
            if constexpr (kHeld != 0) held_[n] = value;
            static_cast<void>(n);
            static_cast<void>(value);
        }

    private:
        const float* row_;
        float held_[kHeld == 0 ? 1 : kHeld];
    };

    // Calls work(n, i) for the lane's n-th number, number i of the row, in ascending order.
    template <class Work>
    static ASSAY_SIMT void each(unsigned lane, unsigned count, const Work& work) {
        if constexpr (kHeld != 0) {
            ASSAY_UNROLL
            for (unsigned n = 0; n < kHeld; ++n) {
                const unsigned i = lane + n * kWarp;
                if (i < count) work(n, i);
            }
        } else {
            for (unsigned i = lane; i < count; i += kWarp) work(0, i);
        }
    }

    static ASSAY_SIMT void forward(const SimtBlock& block, const Args& args, std::uint64_t row,
                                   unsigned count) {
        const std::uint64_t first = row * args.context;
        const float* const scores = args.square.data + first;
        const unsigned lane = block.lane(), any = lane < count ? lane : 0;
        Lane numbers(scores, lane, count);
        bool finite = true;
        Largest largest{scores[any], any};
        each(lane, count, [&](unsigned n, unsigned i) {
            const float score = numbers.at(n, i);
            finite = is_finite(score) && finite;
            largest.see(score, i);
        });
        const float max = largest.among_lanes(block);
        float part = 0.0F;
        each(lane, count, [&](unsigned n, unsigned i) {
            const float e = exp32(sub_rn(numbers.at(n, i), max));
            numbers.hold(n, e);
            part = add_rn(part, e);
        });
        const float sum = fold_lanes<kTree>(block, part);
        each(lane, count, [&](unsigned n, unsigned i) {
            float e = numbers.at(n, i);
            if constexpr (kHeld == 0) e = exp32(sub_rn(e, max));
            args.square.set(first + i, div_rn(e, sum));
        });
        if (lane == 0) {
            args.max.set(row, max);
            args.sum.set(row, sum);
        }
        args.before.note(block, finite);
    }

    static ASSAY_SIMT void again(const SimtBlock& block, const Args& args, std::uint64_t row,
                                 unsigned count) {
        const std::uint64_t first = row * args.context;
        const float max = args.kept_max[row], sum = args.kept_sum[row];
        const Lane numbers(args.square.data + first, block.lane(), count);
        each(block.lane(), count, [&](unsigned n, unsigned i) {
            args.square.set(first + i, div_rn(exp32(sub_rn(numbers.at(n, i), max)), sum));
        });
    }

    static ASSAY_SIMT void gradient(const SimtBlock& block, const Args& args, std::uint64_t row,
                                    unsigned count) {
        const std::uint64_t first = row * args.context;
        const unsigned lane = block.lane();
        // Reads probabilities again for their second use: registers hold the numbers of only one square.
        const Lane slopes(args.square.data + first, lane, count);
        const float* const p = args.p + first;
        bool finite = true;
        float part = 0.0F;
        each(lane, count, [&](unsigned n, unsigned i) {
            const float slope = slopes.at(n, i);
            finite = is_finite(slope) && finite;
            part = fma_rn(slope, p[i], part);
        });
        const float dot = fold_lanes(block, part);
        bool fine = true;
        each(lane, count, [&](unsigned n, unsigned i) {
            const float ds = mul_rn(mul_rn(p[i], sub_rn(slopes.at(n, i), dot)), args.scale);
            args.square.set(first + i, ds);
            fine = is_finite(ds) && fine;
        });
        args.before.note(block, finite);
        args.dot.note(block, is_finite(dot));
        args.after.note(block, fine);
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
