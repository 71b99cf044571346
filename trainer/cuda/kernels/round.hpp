// SPDX-License-Identifier: Apache-2.0
// The ends of a round (contracts/arithmetic/update.hpp): the whole numbers of an update, and the exact mean
// of updates with the outer step. One thread for each number.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/update.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// 2^exponent as binary64. REQUIRES a normal number.
ASSAY_SIMT double wide_power_of_two(int exponent) {
    return double_from_bits(static_cast<std::int64_t>(exponent + 1023) << 52);
}

struct FinaliseArgs {
    std::uint64_t count = 0;
    int sum_exponent = 0;
    const float* start = nullptr;
    const float* end = nullptr;
    OutputArray<std::int64_t> update;
    unsigned* failed = nullptr;  ///< set to 0 when a number is out of range; kNoOperator before
};

/// What a mutant of finalise does wrong: it subtracts in binary32.
enum class FinaliseFault : std::uint8_t { kNone, kNarrow };

/// arithmetic::update_finalise.
template <FinaliseFault kFault = FinaliseFault::kNone>
struct Finalise {
    static constexpr unsigned kThreads = 256;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = FinaliseArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.update);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.count + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t i = std::uint64_t{block.x()} * kThreads + block.thread();
        if (i >= args.count) return;
        const float start = args.start[i], end = args.end[i];
        const double change = kFault == FinaliseFault::kNarrow
                                  ? static_cast<double>(sub_rn(start, end))
                                  : sub_rn(static_cast<double>(start), static_cast<double>(end));
        const double x = mul_rn(change, wide_power_of_two(-args.sum_exponent));
        const double limit = wide_power_of_two(62);
        if (x < limit && -limit < x) {
            args.update.set(i, to_long_rn(x));
        } else {
            block.atomic_min(args.failed, 0);
        }
    }
};

// The 128-bit integers that both compilers have.
__extension__ using WideInteger = __int128;
__extension__ using WideUnsigned = unsigned __int128;

ASSAY_SIMT int bit_width(WideUnsigned x) {
    const auto high = static_cast<std::uint64_t>(x >> 64), low = static_cast<std::uint64_t>(x);
    if (high != 0) return 128 - static_cast<int>(leading_zeros(high));
    return low == 0 ? 0 : 64 - static_cast<int>(leading_zeros(low));
}

/// arithmetic::merged_value. REQUIRES total_weight <= 2^58.
ASSAY_SIMT float merged_value(WideInteger sum, std::uint64_t total_weight, int sum_exponent) {
    if (sum == 0) return 0.0F;
    const bool negative = sum < 0;
    const WideUnsigned size =
        negative ? WideUnsigned{0} - static_cast<WideUnsigned>(sum) : static_cast<WideUnsigned>(sum);
    // Long division, six bits at a time: as many as fit into 64 bits after a remainder. (A compiler's own
    // division of 128 bits begins with an approximate reciprocal, which our kernels never use.)
    WideUnsigned quotient = 0;
    std::uint64_t rest = 0;
    for (int bit = 126; bit >= 0; bit -= 6) {
        rest = (rest << 6) | (static_cast<std::uint64_t>(size >> bit) & 63U);
        const std::uint64_t digit = rest / total_weight;
        rest -= digit * total_weight;
        quotient = (quotient << 6) | digit;
    }
    // Continues until the quotient has 26 bits: 24 of the result, one to round, and a sticky one.
    int exponent = sum_exponent;
    while (bit_width(quotient) < 26) {
        rest <<= 1;
        quotient <<= 1;
        if (rest >= total_weight) {
            rest -= total_weight;
            quotient |= 1U;
        }
        --exponent;
    }
    bool sticky = rest != 0;
    const int surplus = bit_width(quotient) - 26;
    if (surplus > 0) {
        sticky = sticky || (quotient & ((WideUnsigned{1} << surplus) - 1)) != 0;
        quotient >>= surplus;
        exponent += surplus;
    }
    const double digits = to_double_rn((static_cast<std::uint64_t>(quotient) << 1) | (sticky ? 1U : 0U));
    const float magnitude = narrow_rn(mul_rn(digits, wide_power_of_two(exponent - 1)));
    return negative ? -magnitude : magnitude;
}

struct MergeArgs {
    std::uint64_t count = 0;
    unsigned updates = 0;
    const std::int64_t* const* update = nullptr;  ///< [updates], each of `count` numbers
    const std::uint64_t* factor = nullptr;        ///< [updates]
    std::uint64_t total = 0;
    int sum_exponent = 0;
    float learning_rate = 0;
    float momentum = 0;
    OutputArray<float> w, m;
    unsigned* failed = nullptr;  ///< set to 0 when a number is not finite; kNoOperator before
};

/// What a mutant of the merge does wrong: it rounds each update's contribution.
enum class MergeFault : std::uint8_t { kNone, kRoundsParts };

/// arithmetic::merge_updates, then outer_nesterov.
template <MergeFault kFault = MergeFault::kNone>
struct MergeUpdates {
    static constexpr unsigned kThreads = 128;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = MergeArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.w);
        visit(args.m);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.count + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t i = std::uint64_t{block.x()} * kThreads + block.thread();
        if (i >= args.count) return;
        WideInteger sum = 0;  // at most 2^10 · 2^32 · 2^16 · 2^62 in magnitude
        float parts = 0.0F;
        for (unsigned k = 0; k < args.updates; ++k) {
            const WideInteger part =
                static_cast<WideInteger>(args.update[k][i]) * static_cast<WideInteger>(args.factor[k]);
            sum += part;
            if (kFault == MergeFault::kRoundsParts) {
                parts = add_rn(parts, merged_value(part, args.total, args.sum_exponent));
            }
        }
        const float g =
            kFault == MergeFault::kRoundsParts ? parts : merged_value(sum, args.total, args.sum_exponent);
        const float m = add_rn(mul_rn(args.momentum, args.m.get(i)), g);
        const float w =
            sub_rn(args.w.get(i), mul_rn(args.learning_rate, add_rn(g, mul_rn(args.momentum, m))));
        if (!is_finite(w) || !is_finite(m)) block.atomic_min(args.failed, 0);
        args.m.set(i, m);
        args.w.set(i, w);
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
