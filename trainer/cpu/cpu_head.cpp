// SPDX-License-Identifier: Apache-2.0
// The head and the loss, some rows at a time: logits become their own gradient in place, and are used up
// before the next rows' are made.
#include <algorithm>
#include <optional>

#include "contracts/arithmetic/loss.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/cpu_scratch.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;

void CpuDevice::head(const GroupCall& call) {
    const Group& group = call.group;
    const std::uint64_t v = vocabulary_;
    const std::uint64_t w = width_;
    const Operator& forward = *find(group, Kind::kHead);
    const Operator* input_gradient = find(group, Kind::kHeadInputGradient);
    const Operator* weight_gradient = find(group, Kind::kHeadWeightGradient);
    for (std::uint64_t at = 0; at < row_count(); at += call.head_rows) {
        const std::uint64_t count = std::min(call.head_rows, row_count() - at);
        const float* h = in(call, forward, 0) + at * w;
        float* logits = call.scratch;
        const float* weight = in(call, forward, 1);
        Product product = shape_of(*program_, forward, count);
        product.a.data = h;
        product.b.data = weight;
        product.c = logits;
        product.a_maxima = row_maxima(forward.operands[0], at);
        prepare_weight(place_of(group, Kind::kHead), product);
        note(place_of(group, Kind::kHead), multiply(product));
        loss_rows(call, at, count);
        if (input_gradient == nullptr) continue;
        Product down = shape_of(*program_, *input_gradient, count);
        down.a.data = logits;
        down.b.data = weight;
        down.c = out(call, *input_gradient, 0) + at * w;
        down.a_maxima = logits_maxima_.of_rows(count);
        prepare_weight(place_of(group, Kind::kHeadInputGradient), down);
        note(place_of(group, Kind::kHeadInputGradient), multiply(down));
        Product across = shape_of(*program_, *weight_gradient, count);
        across.a.data = logits;
        across.b.data = h;
        across.c = out(call, *weight_gradient, 0);
        across.start = start_of_gradient(first_ * context_ + at);
        across.a_maxima = logits_maxima_.of_columns(count);
        across.b_maxima = column_maxima(forward.operands[0], at);
        note(place_of(group, Kind::kHeadWeightGradient), multiply(across));
    }
    const float* losses = call.scratch + call.head_rows * v;
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        loss_total_ = arithmetic::loss_total_carry(view(losses + s * context_, context_), loss_total_);
    }
    float* loss = out(call, *find(group, Kind::kLossTotal), 0);
    *loss = loss_total_ * arithmetic::reciprocal(numbers_.tokens);
    note(place_of(group, Kind::kLossTotal), kernels_.all_finite({loss, 1}));
}

void CpuDevice::loss_rows(const GroupCall& call, std::uint64_t at, std::uint64_t count) {
    constexpr std::size_t kGrain = 2;             // rows: least share of a thread
    constexpr std::uint64_t kFloats = 1U << 16U;  // at a time, where they are watched: of the second cache
    const std::uint64_t v = vocabulary_;
    const bool is_step = find(call.group, Kind::kHeadInputGradient) != nullptr;
    const bool is_watched = logits_watch_ != MaximaOf::kNothing;
    const std::size_t at_once = is_watched ? std::clamp<std::uint64_t>(kFloats / v, 1, 4) : count;
    const float reciprocal = arithmetic::reciprocal(numbers_.tokens);
    float* const logits = call.scratch;
    float* const losses = logits + call.head_rows * v;
    const std::uint32_t index = place_of(call.group, Kind::kLossTokens);
    ASSAY_CHECK(!is_watched || count % context_ == 0);
    if (is_watched) logits_maxima_.prepare({count, v, context_}, logits_watch_);
    next_share_ = 0;
    pool_.split(count, kGrain, [&](std::size_t first, std::size_t last) {
        std::optional<TensorMaxima::Share> share;
        if (is_watched) share.emplace(logits_maxima_, kernels_, next_share());
        for (std::size_t row = first; row < last; row += at_once) {
            const std::size_t now = std::min(at_once, last - row);
            const auto targets =
                std::span<const std::uint32_t>(targets_).subspan(first_ * context_ + at + row, now);
            const auto part = floats(logits + row * v, now * v);
            const auto loss = floats(losses + at + row, now);
            // Of finite logits only the difference to the target's can overflow.
            note(index, is_step ? kernels_.loss_rows(v, reciprocal, targets, part, loss)
                                : kernels_.loss_rows_forward(v, targets, part, loss));
            if (share) share->see(part.data(), row, now);
        }
    });
    if (is_watched) logits_maxima_.finish();
}

void CpuDevice::logits(const GroupCall& call) {
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    Product product = shape_of(*program_, one, 1);
    product.a.data = in(call, one, 0) + call.row * width_;
    product.b.data = in(call, one, 1);
    product.c = call.scratch;
    prepare_weight(index, product);
    note(index, multiply(product));
}

}  // namespace assay::trainer
