// SPDX-License-Identifier: Apache-2.0
// Operators that work row by row: all of a group's on some rows while they are in the cache, then on the
// next.
#include <algorithm>
#include <array>
#include <optional>

#include "contracts/arithmetic/rope.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/cpu_scratch.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;

void CpuDevice::rows(const GroupCall& call, std::size_t skip) {
    constexpr std::size_t kGrain = 4;             // rows: least share of a thread
    constexpr std::uint64_t kBlockFloats = 8192;  // floats of the widest tensor at a time
    const std::span<const std::uint32_t> places = std::span(call.group.operators).subspan(skip);
    if (places.empty()) return;
    std::uint64_t widest = 1;
    for (const std::uint32_t index : places) {
        widest = std::max(widest, cols(program_->operators[index].outputs[0]));
    }
    const std::size_t block = std::max<std::uint64_t>(1, kBlockFloats / widest);
    const std::span<const Watched> watched = watch(places);
    pool_.split(row_count(), kGrain, [&](std::size_t first, std::size_t last) {
        std::array<std::optional<TensorMaxima::Share>, kMostWatched> shares;
        std::int32_t* const columns = next_share();
        for (std::size_t i = 0; i < watched.size(); ++i) {
            shares[i].emplace(maxima_[watched[i].id], kernels_, columns + watched[i].column);
        }
        for (std::size_t at = first; at < last; at += block) {
            const std::size_t end = std::min(last, at + block);
            for (const std::uint32_t index : places) {
                note(index, rows_of(call, program_->operators[index], at, end));
            }
            for (std::size_t i = 0; i < watched.size(); ++i) {
                const program::TensorId id = watched[i].id;
                shares[i]->see(call.tensors[id] + at * cols(id), at, end - at);
            }
        }
    });
    for (const Watched& one : watched) maxima_[one.id].finish();
}

bool CpuDevice::rows_of(const GroupCall& call, const Operator& one, std::size_t first,
                        std::size_t last) const {
    const std::uint64_t n = cols(one.outputs[0]);
    const std::size_t count = last - first;
    const auto operand = [&](std::size_t i) {
        const std::uint64_t c = cols(one.operands[i]);
        return view(in(call, one, i) + first * c, count * c);
    };
    const auto result = floats(out(call, one, 0) + first * n, count * n);
    switch (one.kind) {
        case Kind::kEmbedding: return embed_rows(call, one, first, last);
        case Kind::kAdd: return kernels_.add(operand(0), operand(1), result);
        case Kind::kGelu: return kernels_.gelu_forward(operand(0), result);
        case Kind::kGeluGradient: return kernels_.gelu_backward(operand(0), operand(1), result);
        case Kind::kSwiGlu: return kernels_.swiglu_forward(n, operand(0), result);
        case Kind::kSwiGluGradient:
            return kernels_.swiglu_backward(cols(one.operands[1]), operand(0), operand(1), result);
        case Kind::kRope:
        case Kind::kRopeGradient: return rotate_rows(call, one, first, last);
        default: return norm_rows(call, one, first, last);
    }
}

bool CpuDevice::norm_rows(const GroupCall& call, const Operator& one, std::size_t first,
                          std::size_t last) const {
    const std::uint64_t n = cols(one.outputs[0]);
    const std::size_t count = last - first;
    const auto wide = [&](float* p) { return floats(p + first * n, count * n); };
    const auto thin = [&](float* p) { return floats(p + first, count); };
    switch (one.kind) {
        case Kind::kLayerNorm:
            return kernels_.layer_norm_forward(wide(in(call, one, 0)), view(in(call, one, 1), n),
                                               view(in(call, one, 2), n), wide(out(call, one, 0)),
                                               {thin(out(call, one, 1)), thin(out(call, one, 2))});
        case Kind::kLayerNormInputGradient:
            return kernels_.layer_norm_input_gradient(
                wide(in(call, one, 0)), wide(in(call, one, 1)), view(in(call, one, 4), n),
                {thin(in(call, one, 2)), thin(in(call, one, 3))}, wide(out(call, one, 0)));
        case Kind::kRmsNorm:
            return kernels_.rms_norm_forward(program_->model.norm_epsilon.value(), wide(in(call, one, 0)),
                                             view(in(call, one, 1), n), wide(out(call, one, 0)),
                                             thin(out(call, one, 1)));
        case Kind::kRmsNormInputGradient:
            return kernels_.rms_norm_input_gradient(wide(in(call, one, 0)), wide(in(call, one, 1)),
                                                    view(in(call, one, 3), n), thin(in(call, one, 2)),
                                                    wide(out(call, one, 0)));
        default: ASSAY_CHECK(false);
    }
    return false;
}

bool CpuDevice::embed_rows(const GroupCall& call, const Operator& one, std::size_t first,
                           std::size_t last) const {
    bool finite = true;
    for (std::size_t t = first; t < last; ++t) {
        const auto x = floats(out(call, one, 0) + t * width_, width_);
        const float* row = in(call, one, 1) + inputs_[first_ * context_ + t] * width_;
        if (one.operands.size() > 2) {
            const float* position = in(call, one, 2) + t % context_ * width_;
            finite &= kernels_.add(view(row, width_), view(position, width_), x);
        } else {
            std::copy(row, row + width_, x.begin());
            finite &= kernels_.all_finite(x);
        }
    }
    return finite;
}

bool CpuDevice::rotate_rows(const GroupCall& call, const Operator& one, std::size_t first,
                            std::size_t last) const {
    const program::ModelConfig& model = program_->model;
    const arithmetic::RopeTableView table{rope_cos_, rope_sin_};
    const std::uint64_t stride = model.qkv_width();
    bool finite = true;
    for (std::size_t at = first; at < last;) {
        const std::size_t position = at % context_;
        const std::size_t end = std::min(last, at - position + context_);
        const arithmetic::RopeShape shape{end - at, model.heads + model.key_value_heads(), model.head_dim(),
                                          stride, position};
        float* x = out(call, one, 0) + at * stride;
        const auto rotate = one.kind == Kind::kRope ? kernels_.rope_forward : kernels_.rope_backward;
        finite &= rotate(shape, table, x);
        at = end;
    }
    return finite;
}

}  // namespace assay::trainer
