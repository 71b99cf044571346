// SPDX-License-Identifier: Apache-2.0
// The embedding's gradient, and what happens once per step: the tied gradient, the norm, AdamW.
#include <algorithm>
#include <functional>

#include "contracts/base/check.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/cpu_scratch.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;

// Threads share the columns: each goes through the tokens of a sequence in order.
void CpuDevice::embedding_gradient(const GroupCall& call) {
    constexpr std::size_t kColumns = 64;
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    const float* dx = in(call, one, 1);
    float* rows = out(call, one, 0);
    float* positions = one.outputs.size() > 1 ? out(call, one, 1) : nullptr;
    const bool is_compact = numbers_.compact_embedding;
    pool_.split(width_, kColumns, [&](std::size_t first, std::size_t last) {
        bool finite = true;
        for (std::size_t column = first; column < last; column += kColumns) {
            const std::size_t n = std::min(kColumns, last - column);
            const auto add_to = [&](float* sum, const float* x) {
                return kernels_.add(view(sum, n), view(x, n), floats(sum, n));
            };
            for (std::uint64_t t = 0; t < row_count(); ++t) {
                const auto place = static_cast<std::uint32_t>(first_ * context_ + t);
                if (positions != nullptr) {
                    finite &= add_to(positions + t % context_ * width_ + column, dx + t * width_ + column);
                }
                if (!is_first_place_[place]) continue;
                float sum[kColumns] = {};
                for (std::uint32_t at = place; at != kNone; at = next_place_[at]) {
                    add_to(sum, dx + (at - first_ * context_) * width_ + column);
                }
                const std::uint32_t token = inputs_[place];
                finite &= add_to(rows + (is_compact ? row_of_token_[token] : token) * width_ + column, sum);
            }
        }
        note(index, finite);
    });
}

void CpuDevice::global_norm(const GroupCall& call) {
    const std::uint32_t index = place_of(call.group, Kind::kGlobalNorm);
    const Operator& norm = program_->operators[index];
    std::uint64_t tiles = 0;
    for (std::size_t i = 0; i < norm.operands.size(); ++i) {
        square_tensor(call, i, call.scratch + tiles);
        const program::TensorInfo& info = program_->parameters[i];
        tiles += arithmetic::tile_count(info.rows, info.cols);
    }
    float* value = out(call, norm, 0);
    *value = arithmetic::norm_of_tiles(floats(call.scratch, tiles));
    note(index, kernels_.all_finite({value, 1}));
}

void CpuDevice::clip(const GroupCall& call) {
    const std::uint32_t index = place_of(call.group, Kind::kClip);
    const Operator& one = program_->operators[index];
    float* scale = out(call, one, 0);
    *scale = arithmetic::clip_scale(*in(call, one, 0), program_->clip_norm);
    note(index, kernels_.all_finite({scale, 1}));
}

// Sums of squares of the tiles of one gradient. The two gradients of the tied matrix are added on the way.
// Rows of tokens that do not occur have an embedding gradient of +0; adding that still turns −0 into +0.
void CpuDevice::square_tensor(const GroupCall& call, std::size_t operand, float* sums) {
    const Operator* tied = find(call.group, Kind::kTiedGradient);
    const program::TensorId id = find(call.group, Kind::kGlobalNorm)->operands[operand];
    const program::TensorInfo& info = program_->parameters[operand];
    const bool is_tied = tied != nullptr && tied->outputs[0] == id;
    const std::size_t across = arithmetic::tile_count(1, info.cols);
    pool_.split(info.rows, arithmetic::kTile, [&](std::size_t first, std::size_t last) {
        for (std::size_t top = first; top < last; top += arithmetic::kTile) {
            const std::size_t count = std::min<std::size_t>(arithmetic::kTile, last - top);
            float* block = call.tensors[id] + top * info.cols;
            if (is_tied) {
                for (std::size_t i = 0; i < count; ++i) {
                    const std::uint32_t row = row_of_token_[top + i];
                    float* sum = block + i * info.cols;
                    if (row == kNone) {
                        for (std::size_t j = 0; j < info.cols; ++j) sum[j] = sum[j] + 0.0F;
                    } else {
                        const float* other = in(call, *tied, 1) + row * info.cols;
                        kernels_.add(view(sum, info.cols), view(other, info.cols), floats(sum, info.cols));
                    }
                }
                note(place_of(call.group, Kind::kTiedGradient),
                     kernels_.all_finite(view(block, count * info.cols)));
            }
            kernels_.square_tiles(count, info.cols, view(block, count * info.cols),
                                  floats(sums + top / arithmetic::kTile * across, across));
        }
    });
}

void CpuDevice::update(const GroupCall& call) {
    if (diverged_ != kNone) return;
    if (!is_sure_to_stay_finite(call)) {
        try_update(call);
        if (diverged_ != kNone) return;
    }
    forget_weights();
    for (const std::uint32_t index : call.group.operators) adamw(call, program_->operators[index]);
}

bool CpuDevice::adamw(const GroupCall& call, const Operator& one) {
    constexpr std::size_t kElements = 4096;
    const program::TensorInfo& info = program_->parameters[one.operands[2]];
    arithmetic::AdamWCoefficients own = numbers_.coefficients;
    if (!info.decays()) own.decay = 0.0F;
    std::atomic<bool> finite = true;
    const auto write = [&](std::size_t first, std::size_t last) {
        const auto part = [&](float* p) { return floats(p + first, last - first); };
        if (!kernels_.adamw(own, *in(call, one, 1), part(in(call, one, 0)), part(out(call, one, 0)),
                            part(out(call, one, 1)), part(out(call, one, 2)))) {
            finite = false;
        }
    };
    if (is_measured(one.operands[2])) {
        measure_weight(one.operands[2], out(call, one, 0), std::cref(write));
    } else {
        pool_.split(info.size(), kElements, write);
    }
    return finite;
}

namespace {
// Moderate numbers: |w| <= 2^60, |m| <= 2^20, 0 <= v <= 2^40.
constexpr std::uint32_t kMostParameter = 0x5d800000;  // bits
constexpr std::uint32_t kMostFirst = 0x49800000;
constexpr std::uint32_t kMostSecond = 0x53800000;

constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kWhole =
    0xffffffff;  // a sign is beyond every limit, −0 too: the proof does without it

// Numbers of a step under which AdamW keeps moderate numbers moderate. |g| <= 2·norm + 2^-60 and
// norm · clip <= 2^8 give |h| <= 2^10; then |m| <= beta1 · 2^20 + 2^10 <= 2^20 and v <= beta2 · 2^40 + 2^20
// <= 2^40 with room for rounding; the quotient is at most 2^20 · 2^10 / 2^-30 = 2^60. So each step adds at
// most 2^60 to |w|, which decay only lowers: all is finite for more steps than there will ever be.
bool keeps_moderate(const arithmetic::AdamWCoefficients& c, float norm, float clip) {
    const auto within = [](float x, float least, float most) { return x >= least && x <= most; };
    return within(c.learning_rate, 0.0F, 1.0F) && within(c.decay, 0.0F, 1.0F) &&
           within(c.beta1, 0.0F, 0.996F) && within(c.one_minus_beta1, 0.0F, 1.0F) &&
           within(c.beta2, 0.0F, 0.99999F) && within(c.one_minus_beta2, 0.0F, 1.0F) &&
           within(c.correction1, 0.0F, 0x1p10F) && within(c.correction2, 0.0F, 0x1p20F) &&
           within(c.epsilon, 0x1p-30F, 1.0F) && within(clip, 0.0F, 1.0F) && within(norm, 0.0F, 0x1p40F) &&
           within(norm * clip, 0.0F, 0x1p8F);
}
}  // namespace

bool CpuDevice::is_sure_to_stay_finite(const GroupCall& call) {
    const Operator& any = program_->operators[call.group.operators.front()];
    const std::array<const float*, 3> state = {out(call, any, 0), out(call, any, 1), out(call, any, 2)};
    const bool known = moderate_ == state;
    moderate_ = {};
    if (!keeps_moderate(numbers_.coefficients, *call.tensors[program_->norm], *in(call, any, 1)))
        return false;
    if (!known && !state_is_moderate(call)) return false;
    moderate_ = state;
    return true;
}

bool CpuDevice::state_is_moderate(const GroupCall& call) {
    constexpr std::size_t kShare = 1U << 14;
    std::atomic<bool> moderate = true;
    for (const std::uint32_t index : call.group.operators) {
        const Operator& one = program_->operators[index];
        const std::uint64_t size = program_->parameters[one.operands[2]].size();
        pool_.split(size, kShare, [&](std::size_t first, std::size_t last) {
            const std::size_t n = last - first;
            const auto part = [&](std::size_t i) { return view(out(call, one, i) + first, n); };
            const bool within = kernels_.bounded(part(0), kMagnitude, kMostParameter) &&
                                kernels_.bounded(part(1), kMagnitude, kMostFirst) &&
                                kernels_.bounded(part(2), kWhole, kMostSecond);
            if (!within) moderate = false;
        });
    }
    return moderate;
}

// Runs the whole update on copies, a piece at a time, checks the results and drops them.
void CpuDevice::try_update(const GroupCall& call) {
    for (const std::uint32_t index : call.group.operators) {
        const Operator& one = program_->operators[index];
        const program::TensorInfo& info = program_->parameters[one.operands[2]];
        arithmetic::AdamWCoefficients own = numbers_.coefficients;
        if (!info.decays()) own.decay = 0.0F;
        const std::uint64_t pieces = (info.size() + kTrialLength - 1) / kTrialLength;
        pool_.deal_tasks(pieces, [&](std::size_t slot, std::uint64_t piece) {
            const std::uint64_t first = piece * kTrialLength;
            const std::uint64_t count = std::min(kTrialLength, info.size() - first);
            float* copies = call.scratch + slot * kTrialArrays * kTrialLength;
            for (std::size_t i = 0; i < kTrialArrays; ++i) {
                std::copy_n(out(call, one, i) + first, count, copies + i * kTrialLength);
            }
            const auto copy = [&](std::size_t i) { return floats(copies + i * kTrialLength, count); };
            note(index, kernels_.adamw(own, *in(call, one, 1), view(in(call, one, 0) + first, count), copy(0),
                                       copy(1), copy(2)));
        });
    }
}

}  // namespace assay::trainer
