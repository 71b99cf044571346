// SPDX-License-Identifier: Apache-2.0
// Gives devices the operators that sum or search along a row (contracts/arithmetic/reduce.hpp,
// layer_norm.hpp, rms_norm.hpp, and the rows of attention.hpp and loss.hpp): a warp a row, whose lanes are
// the law's 32.
#pragma once

#include <cstdint>

#include "trainer/cuda/simt/lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct RowArgs {
    std::uint64_t rows = 0;
    std::uint64_t cols = 1;
    std::uint64_t context = 0;  ///< of squares: row r has r % context + 1 numbers. 0: all have `cols`
    const float* a = nullptr;
    const float* b = nullptr;
    const float* gain = nullptr;
    const float* bias = nullptr;
    const float* mean = nullptr;
    const float* rstd = nullptr;
    OutputArray<float> out;
    OutputArray<float> mean_out;  ///< of a layer norm
    OutputArray<float> rstd_out;  ///< of a norm
    float epsilon = 0;
};

/// Which operator a RowWise kernel is.
enum class RowKind : std::uint8_t {
    kMax,                ///< of a row of a
    kSum,                ///< of a row of a
    kDot,                ///< of rows of a and b
    kLayerNorm,          ///< x = a
    kLayerNormGradient,  ///< of the input; dy = a, x = b
    kRmsNorm,            ///< x = a
    kRmsNormGradient,    ///< of the input; dy = a, x = b
};

/// What a mutant of a row kernel does wrong.
enum class RowFault : std::uint8_t { kNone, kOtherTree };

template <RowKind kKind, RowFault kFault = RowFault::kNone>
struct RowWise {
    static constexpr unsigned kWarps = 8;
    static constexpr unsigned kThreads = kWarps * kWarp;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = true;
    using Args = RowArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
        visit(args.mean_out);
        visit(args.rstd_out);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.rows + kWarps - 1) / kWarps), 1, 1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t row = std::uint64_t{block.x()} * kWarps + block.warp();
        if (row >= args.rows) return;
        using enum RowKind;
        if constexpr (kKind == kMax) maximum(block, args, row);
        if constexpr (kKind == kSum || kKind == kDot) sum(block, args, row);
        if constexpr (kKind == kLayerNorm) layer_norm(block, args, row);
        if constexpr (kKind == kLayerNormGradient) layer_norm_gradient(block, args, row);
        if constexpr (kKind == kRmsNorm) rms_norm(block, args, row);
        if constexpr (kKind == kRmsNormGradient) rms_norm_gradient(block, args, row);
    }

private:
    static ASSAY_SIMT std::uint64_t length(const Args& args, std::uint64_t row) {
        return args.context == 0 ? args.cols : row % args.context + 1;
    }

    // The law's tree over the lanes, for every lane.
    static ASSAY_SIMT float fold(const SimtBlock& block, float lane) {
        if constexpr (kFault == RowFault::kOtherTree) {
            for (unsigned lanes = 1; lanes < kWarp; lanes *= 2)
                lane = add_rn(lane, block.shfl_xor(lane, lanes));
            return lane;
        }
        ASSAY_UNROLL
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2)
            lane = add_rn(lane, block.shfl_down(lane, lanes));
        return block.shfl(lane, 0);
    }

    static ASSAY_SIMT void maximum(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const float* const x = args.a + row * args.cols;
        const auto count = static_cast<std::uint32_t>(length(args, row));
        // Among equals the lowest index wins: −0 and +0 are equal, and have different bits.
        std::uint32_t best = block.lane() < count ? block.lane() : 0;
        float value = x[best];
        for (std::uint32_t i = best + kWarp; i < count; i += kWarp) {
            if (value < x[i]) {
                value = x[i];
                best = i;
            }
        }
        ASSAY_UNROLL
        for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
            const float other = block.shfl_xor(value, lanes);
            const std::uint32_t at = block.shfl_xor(best, lanes);
            if (value < other || (!(other < value) && at < best)) {
                value = other;
                best = at;
            }
        }
        if (block.lane() == 0) args.out.set(row, value);
    }

    static ASSAY_SIMT void sum(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const std::uint64_t count = length(args, row), first = row * args.cols;
        float lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < count; i += kWarp) {
            lane = kKind == RowKind::kSum ? add_rn(lane, args.a[first + i])
                                          : fma_rn(args.a[first + i], args.b[first + i], lane);
        }
        const float all = fold(block, lane);
        if (block.lane() == 0) args.out.set(row, all);
    }

    static ASSAY_SIMT void layer_norm(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const float* const x = args.a + row * args.cols;
        const auto size = static_cast<float>(args.cols);
        float lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) lane = add_rn(lane, x[i]);
        const float mean = div_rn(fold(block, lane), size);
        lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float centred = sub_rn(x[i], mean);
            lane = fma_rn(centred, centred, lane);
        }
        const float rstd = rsqrt32(add_rn(div_rn(fold(block, lane), size), args.epsilon));
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            args.out.set(row * args.cols + i,
                         fma_rn(mul_rn(sub_rn(x[i], mean), rstd), args.gain[i], args.bias[i]));
        }
        if (block.lane() == 0) {
            args.mean_out.set(row, mean);
            args.rstd_out.set(row, rstd);
        }
    }

    static ASSAY_SIMT void layer_norm_gradient(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const std::uint64_t first = row * args.cols;
        const auto size = static_cast<float>(args.cols);
        const float mean = args.mean[row], rstd = args.rstd[row];
        float lane = 0.0F, dots = 0.0F;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float scaled = mul_rn(args.a[first + i], args.gain[i]);
            lane = add_rn(lane, scaled);
            dots = fma_rn(scaled, mul_rn(sub_rn(args.b[first + i], mean), rstd), dots);
        }
        const float a = div_rn(fold(block, lane), size), b = div_rn(fold(block, dots), size);
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float normal = mul_rn(sub_rn(args.b[first + i], mean), rstd);
            const float scaled = mul_rn(args.a[first + i], args.gain[i]);
            args.out.set(first + i, mul_rn(rstd, fma_rn(-normal, b, sub_rn(scaled, a))));
        }
    }

    static ASSAY_SIMT void rms_norm(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const float* const x = args.a + row * args.cols;
        float lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) lane = fma_rn(x[i], x[i], lane);
        const float r = div_rn(1.0F, static_cast<float>(args.cols));
        const float rstd = rsqrt32(add_rn(mul_rn(fold(block, lane), r), args.epsilon));
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            args.out.set(row * args.cols + i, mul_rn(mul_rn(x[i], rstd), args.gain[i]));
        }
        if (block.lane() == 0) args.rstd_out.set(row, rstd);
    }

    static ASSAY_SIMT void rms_norm_gradient(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const std::uint64_t first = row * args.cols;
        const float rstd = args.rstd[row], r = div_rn(1.0F, static_cast<float>(args.cols));
        float lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            lane = fma_rn(mul_rn(args.a[first + i], args.gain[i]), mul_rn(args.b[first + i], rstd), lane);
        }
        const float c = mul_rn(fold(block, lane), r);
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float normal = mul_rn(args.b[first + i], rstd);
            const float scaled = mul_rn(args.a[first + i], args.gain[i]);
            args.out.set(first + i, mul_rn(sub_rn(scaled, mul_rn(normal, c)), rstd));
        }
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
