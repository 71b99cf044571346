// SPDX-License-Identifier: Apache-2.0
// Attention, a head of a sequence at a time, its squares in a thread's own scratch. Between the passes only
// the maximum and the sum of each row are kept: the backward pass rematerialises the same probabilities.
#include <new>
#include <thread>

#include "contracts/arithmetic/reduce.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/cpu_heads.hpp"
#include "trainer/cpu/cpu_scratch.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;
using arithmetic::ChainStart;

// Kernels keep buffers per thread, and any thread may be late: each takes its own here, so that no later
// step meets a thread that has to allocate, and no failure meets one that cannot report it.
void CpuDevice::warm_up() {
    const HeadShape head{program_->model.context, program_->model.head_dim()};
    if (!products_->prepare_thread(head)) throw std::bad_alloc();  // the caller may be new each time
    if (warm_model_ == program_->model && warm_profile_ == program_->profile) return;
    std::atomic<std::size_t> arrived = 0;
    std::atomic<bool> enough = true;
    pool_.split(pool_.threads(), 1, [&](std::size_t first, std::size_t last) {
        arrived += last - first;
        while (arrived < pool_.threads()) std::this_thread::yield();  // so that no thread takes two
        if (!products_->prepare_thread(head)) enough = false;
    });
    if (!enough) throw std::bad_alloc();
    warm_model_ = program_->model;
    warm_profile_ = program_->profile;
}

void CpuDevice::attention(const GroupCall& call) {
    const Heads heads(program_->model);
    pool_.deal_tasks(sequences_ * heads.queries, [&](std::size_t slot, std::uint64_t item) {
        attention_head(call, heads, item, call.scratch + slot * heads.square());
    });
}

void CpuDevice::attention_head(const GroupCall& call, const Heads& heads, std::uint64_t item, float* square) {
    const std::uint32_t first = call.group.operators.front();
    const auto one = [&](Kind kind) -> const Operator& { return *find(call.group, kind); };
    const std::uint64_t n = heads.shape.tokens;
    const std::uint64_t s = item / heads.queries;
    const std::uint64_t h = item % heads.queries;
    const std::uint64_t g = h / heads.shared();
    const float* qkv = in(call, one(Kind::kAttentionScores), 0) + s * n * heads.stride;
    const auto view_at = [&](std::uint64_t column) { return HeadView{qkv + column, heads.stride}; };
    const auto squares = floats(square, heads.square());
    const auto column = [&](Kind kind) { return floats(out(call, one(kind), 0) + item * n, n); };
    note(first,
         products_->attention_scores(heads.shape, view_at(heads.query(h)), view_at(heads.key(g)), squares));
    // Of finite scores everything up to the probabilities is finite.
    kernels_.softmax(n, squares, column(Kind::kSoftmaxMax), column(Kind::kSoftmaxSum));
    const HeadOut o{out(call, one(Kind::kAttentionValues), 0) + s * n * heads.width + heads.query(h),
                    heads.width};
    note(place_of(call.group, Kind::kAttentionValues),
         products_->attention_values(heads.shape, squares, view_at(heads.value(g)), o));
}

void CpuDevice::attention_gradient(const GroupCall& call) {
    const Heads heads(program_->model);
    pool_.deal_tasks(sequences_ * heads.keys, [&](std::size_t slot, std::uint64_t item) {
        attention_group(call, heads, item, call.scratch + slot * 2 * heads.square());
    });
}

// The query heads that share one key head, ascending: its gradients are carried from one to the next.
void CpuDevice::attention_group(const GroupCall& call, const Heads& heads, std::uint64_t item,
                                float* squares) {
    const auto one = [&](Kind kind) -> const Operator& { return *find(call.group, kind); };
    const auto note_of = [&](Kind kind, bool finite) {
        if (!finite) note(place_of(call.group, kind), false);
    };
    const HeadShape shape = heads.shape;
    const std::uint64_t n = shape.tokens;
    const std::uint64_t s = item / heads.keys;
    const std::uint64_t g = item % heads.keys;
    const float* qkv = in(call, one(Kind::kAttentionQueryGradient), 1) + s * n * heads.stride;
    float* dqkv = out(call, one(Kind::kAttentionQueryGradient), 0) + s * n * heads.stride;
    const float* d_output = in(call, one(Kind::kAttentionProbabilityGradient), 0) + s * n * heads.width;
    const auto from = [&](std::uint64_t column) { return HeadView{qkv + column, heads.stride}; };
    const auto to = [&](std::uint64_t column) { return HeadOut{dqkv + column, heads.stride}; };
    const auto p = floats(squares, heads.square());
    const auto dp = floats(squares + heads.square(), heads.square());
    for (std::uint64_t i = 0; i < heads.shared(); ++i) {
        const std::uint64_t h = g * heads.shared() + i;
        const ChainStart start = i == 0 ? ChainStart::kZero : ChainStart::kCarry;
        const HeadView d_o{d_output + heads.query(h), heads.width};
        const std::uint64_t rows = (s * heads.queries + h) * n;
        products_->attention_scores(shape, from(heads.query(h)), from(heads.key(g)), p);
        kernels_.softmax_again(n, p, view(call.tensors[call.group.max] + rows, n),
                               view(call.tensors[call.group.sum] + rows, n));
        note_of(Kind::kAttentionValueGradient,
                products_->attention_value_gradient(shape, p, d_o, to(heads.value(g)), start));
        const auto probability_gradient = [&] {
            return products_->attention_probability_gradient(shape, d_o, from(heads.value(g)), dp);
        };
        note_of(Kind::kAttentionProbabilityGradient, probability_gradient());
        if (!kernels_.softmax_backward(shape, dp, p)) {
            // Which of its two operators it was: a row's dot is enough to spoil the row.
            note_of(Kind::kSoftmaxGradient, false);
            probability_gradient();
            for (std::uint64_t t = 0; t < n; ++t) {
                const float dot = arithmetic::lane_dot(dp.subspan(t * n, t + 1), p.subspan(t * n, t + 1));
                note_of(Kind::kSoftmaxDot, kernels_.all_finite({&dot, 1}));
            }
        }
        note_of(Kind::kAttentionQueryGradient,
                products_->attention_query_gradient(shape, dp, from(heads.key(g)), to(heads.query(h))));
        note_of(Kind::kAttentionKeyGradient,
                products_->attention_key_gradient(shape, dp, from(heads.query(h)), to(heads.key(g)), start));
    }
}

}  // namespace assay::trainer
