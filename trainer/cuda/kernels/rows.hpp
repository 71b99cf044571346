// SPDX-License-Identifier: Apache-2.0
// Operators that sum or search along a row (contracts/arithmetic/reduce.hpp, layer_norm.hpp, rms_norm.hpp,
// and the rows of attention.hpp and loss.hpp). One warp for each row; its lanes are the law's 32 lanes.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/number_watch.hpp"
#include "trainer/cuda/kernels/warp_row.hpp"

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
    NumberWatch watch;  ///< of the operator
};

/// The operator that a RowWise kernel runs.
enum class RowKind : std::uint8_t {
    kMax,                ///< of a row of a
    kSum,                ///< of a row of a
    kDot,                ///< of rows of a and b
    kLayerNorm,          ///< x = a
    kLayerNormGradient,  ///< of the input; dy = a, x = b
    kRmsNorm,            ///< x = a
    kRmsNormGradient,    ///< of the input; dy = a, x = b
};

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

    static ASSAY_SIMT float fold(const SimtBlock& block, float lane) {
        return fold_lanes<kFault>(block, lane);
    }

    static ASSAY_SIMT void maximum(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const float* const x = args.a + row * args.cols;
        const auto count = static_cast<std::uint32_t>(length(args, row));
        const std::uint32_t first = block.lane() < count ? block.lane() : 0;
        Largest largest{x[first], first};
        for (std::uint32_t i = first + kWarp; i < count; i += kWarp) largest.see(x[i], i);
        const float value = largest.among_lanes(block);
        if (block.lane() != 0) return;
        args.out.set(row, value);
        args.watch.note(block, is_finite(value));
    }

    static ASSAY_SIMT void sum(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const std::uint64_t count = length(args, row), first = row * args.cols;
        float lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < count; i += kWarp) {
            lane = kKind == RowKind::kSum ? add_rn(lane, args.a[first + i])
                                          : fma_rn(args.a[first + i], args.b[first + i], lane);
        }
        const float all = fold(block, lane);
        if (block.lane() != 0) return;
        args.out.set(row, all);
        args.watch.note(block, is_finite(all));
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
        bool finite = is_finite(mean) && is_finite(rstd);
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float y = fma_rn(mul_rn(sub_rn(x[i], mean), rstd), args.gain[i], args.bias[i]);
            args.out.set(row * args.cols + i, y);
            finite = finite && is_finite(y);
        }
        if (block.lane() == 0) {
            args.mean_out.set(row, mean);
            args.rstd_out.set(row, rstd);
        }
        args.watch.note(block, finite);
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
        bool finite = true;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float normal = mul_rn(sub_rn(args.b[first + i], mean), rstd);
            const float scaled = mul_rn(args.a[first + i], args.gain[i]);
            const float dx = mul_rn(rstd, fma_rn(-normal, b, sub_rn(scaled, a)));
            args.out.set(first + i, dx);
            finite = finite && is_finite(dx);
        }
        args.watch.note(block, finite);
    }

    static ASSAY_SIMT void rms_norm(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const float* const x = args.a + row * args.cols;
        float lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) lane = fma_rn(x[i], x[i], lane);
        const float r = div_rn(1.0F, static_cast<float>(args.cols));
        const float rstd = rsqrt32(add_rn(mul_rn(fold(block, lane), r), args.epsilon));
        bool finite = is_finite(rstd);
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float y = mul_rn(mul_rn(x[i], rstd), args.gain[i]);
            args.out.set(row * args.cols + i, y);
            finite = finite && is_finite(y);
        }
        if (block.lane() == 0) args.rstd_out.set(row, rstd);
        args.watch.note(block, finite);
    }

    static ASSAY_SIMT void rms_norm_gradient(const SimtBlock& block, const Args& args, std::uint64_t row) {
        const std::uint64_t first = row * args.cols;
        const float rstd = args.rstd[row], r = div_rn(1.0F, static_cast<float>(args.cols));
        float lane = 0.0F;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            lane = fma_rn(mul_rn(args.a[first + i], args.gain[i]), mul_rn(args.b[first + i], rstd), lane);
        }
        const float c = mul_rn(fold(block, lane), r);
        bool finite = true;
        for (std::uint64_t i = block.lane(); i < args.cols; i += kWarp) {
            const float normal = mul_rn(args.b[first + i], rstd);
            const float scaled = mul_rn(args.a[first + i], args.gain[i]);
            const float dx = mul_rn(sub_rn(scaled, mul_rn(normal, c)), rstd);
            args.out.set(first + i, dx);
            finite = finite && is_finite(dx);
        }
        args.watch.note(block, finite);
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
