// SPDX-License-Identifier: Apache-2.0
// Cross-entropy as one kernel. A warp has a row of logits, which become their own gradient in place. A row is
// too long for registers, so its exponentials are computed twice instead of written and read. Numbers and
// order are those of contracts/arithmetic/loss.hpp.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/number_watch.hpp"
#include "trainer/cuda/kernels/warp_row.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct LossRowsArgs {
    std::uint64_t rows = 0;
    std::uint64_t cols = 1;
    const std::uint32_t* targets = nullptr;
    OutputArray<float> logits;  ///< becomes their gradient, if that is wanted
    OutputArray<float> losses;  ///< one number for each row
    float number = 0;           ///< a factor of the gradient
    NumberWatch before;         ///< watches the logits
    NumberWatch loss;           ///< watches the losses: all else of a row of finite logits is finite
    std::uint64_t blocks = 1;   ///< of LossBlocks' grid
};

/// What a mutant does wrong.
enum class LossFault : std::uint8_t {
    kNone,
    kLateTarget,  ///< it reads the target's logit after that has become its gradient
};

template <bool kGradient, LossFault kFault = LossFault::kNone>
struct LossRows {
    static constexpr unsigned kWarps = 8;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = true;
    using Args = LossRowsArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.logits);
        visit(args.losses);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.rows + kWarps - 1) / kWarps), 1, 1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t row = std::uint64_t{block.x()} * kWarps + block.warp();
        if (row >= args.rows) return;
        const float* const x = args.logits.data + row * args.cols;
        const auto count = static_cast<std::uint32_t>(args.cols);
        const std::uint32_t lane = block.lane(), any = lane < count ? lane : 0, target = args.targets[row];
        float of_target = 0.0F;  // set in the lane that has the target, which writes the loss later
        bool finite = true;
        Largest largest{x[any], any};
        for (std::uint32_t i = lane; i < count; i += kWarp) {
            finite = is_finite(x[i]) && finite;
            largest.see(x[i], i);
            if (i == target) of_target = x[i];
        }
        of_target = block.shfl(of_target, target % kWarp);
        const float max = largest.among_lanes(block);
        float part = 0.0F;
        for (std::uint32_t i = lane; i < count; i += kWarp) part = add_rn(part, exp32(sub_rn(x[i], max)));
        const float sum = fold_lanes(block, part);
        if constexpr (kGradient) {
            for (std::uint32_t i = lane; i < count; i += kWarp) {
                const float p = div_rn(exp32(sub_rn(x[i], max)), sum);
                args.logits.set(row * args.cols + i, mul_rn(i == target ? sub_rn(p, 1.0F) : p, args.number));
            }
        }
        if constexpr (kFault == LossFault::kLateTarget) of_target = x[target];
        args.before.note(block, finite);
        if (lane != 0) return;
        const float loss = sub_rn(log32(sum), sub_rn(of_target, max));
        args.losses.set(row, loss);
        args.loss.note(block, is_finite(loss));
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
