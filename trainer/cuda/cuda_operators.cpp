// SPDX-License-Identifier: Apache-2.0
// One operator at a time: its kernels by its kind.
#include <algorithm>
#include <vector>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/layer_norm.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cuda/cuda_device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

using Kind = program::OperatorKind;

void CudaDevice::run_one(const OperatorCall& call) {
    switch (call.one.kind) {
        case Kind::kLinear:
        case Kind::kLinearInputGradient:
        case Kind::kHead:
        case Kind::kHeadInputGradient: linear(call); break;
        case Kind::kLinearWeightGradient:
        case Kind::kHeadWeightGradient: weight_gradient(call, true); break;
        case Kind::kLinearBiasGradient: columns(call, ColumnKind::kBias); break;
        case Kind::kLayerNormParameterGradient: columns(call, ColumnKind::kLayerNorm); break;
        case Kind::kRmsNormParameterGradient: columns(call, ColumnKind::kRmsNorm); break;
        case Kind::kEmbedding:
        case Kind::kEmbeddingGradient: embedding(call); break;
        case Kind::kAttentionScores:
        case Kind::kAttentionValues:
        case Kind::kAttentionValueGradient:
        case Kind::kAttentionProbabilityGradient:
        case Kind::kAttentionQueryGradient:
        case Kind::kAttentionKeyGradient: attention_products(call); break;
        case Kind::kSoftmaxMax:
        case Kind::kSoftmaxExp:
        case Kind::kSoftmaxSum:
        case Kind::kSoftmaxDivide:
        case Kind::kSoftmaxDot:
        case Kind::kSoftmaxGradient: softmax(call); break;
        case Kind::kLossMax:
        case Kind::kLossExp:
        case Kind::kLossSum:
        case Kind::kLossTokens:
        case Kind::kLossTotal:
        case Kind::kLossGradient: loss(call); break;
        case Kind::kLayerNorm:
        case Kind::kLayerNormInputGradient:
        case Kind::kRmsNorm:
        case Kind::kRmsNormInputGradient: norms(call); break;
        case Kind::kGlobalNorm:
        case Kind::kClip: norm(call, false); break;
        case Kind::kAdamW: {
            const AdamWArgs args = adamw_args(call);
            update_all({&args, 1}, UpdatePass::kAlways);
            break;
        }
        case Kind::kRope:
        case Kind::kGelu:
        case Kind::kSwiGlu:
        case Kind::kAdd:
        case Kind::kGeluGradient:
        case Kind::kSwiGluGradient:
        case Kind::kRopeGradient:
        case Kind::kTiedGradient: rows(call); break;
    }
}

void CudaDevice::rows(const OperatorCall& call) {
    const Operator& one = call.one;
    const program::ModelConfig& model = program_->model;
    PointArgs args{.count = out(call, 0).count, .out = out(call, 0), .watch = watch(call.index)};
    args.a = call.in(0);
    if (one.operands.size() > 1) args.b = call.in(1);
    switch (one.kind) {
        case Kind::kRope:
        case Kind::kRopeGradient:
            args.a = rope_cos_.data();
            args.b = rope_sin_.data();
            args.cols = cols(one.outputs[0]);
            args.context = context_;
            args.heads = model.heads + model.key_value_heads();
            args.head_dim = model.head_dim();
            args.count = row_count() * args.heads * (args.head_dim / 2);
            return run_pointwise(stream(),
                                 one.kind == Kind::kRope ? PointKind::kRope : PointKind::kRopeGradient, args);
        case Kind::kGelu: return run_pointwise(stream(), PointKind::kGelu, args);
        case Kind::kGeluGradient: return run_pointwise(stream(), PointKind::kGeluGradient, args);
        case Kind::kSwiGlu:
            args.cols = cols(one.outputs[0]);
            return run_pointwise(stream(), PointKind::kSwiGlu, args);
        case Kind::kSwiGluGradient:
            args.cols = cols(one.operands[1]);
            args.count = row_count() * args.cols;
            return run_pointwise(stream(), PointKind::kSwiGluGradient, args);
        default: return run_pointwise(stream(), PointKind::kAdd, args);
    }
}

void CudaDevice::norms(const OperatorCall& call) {
    const Operator& one = call.one;
    RowArgs args{.rows = row_count(),
                 .cols = cols(one.operands[0]),
                 .a = call.in(0),
                 .out = out(call, 0),
                 .watch = watch(call.index)};
    switch (one.kind) {
        case Kind::kLayerNorm:
            args.gain = call.in(1);
            args.bias = call.in(2);
            args.mean_out = out(call, 1);
            args.rstd_out = out(call, 2);
            args.epsilon = arithmetic::kLayerNormEpsilon;
            return run_rows(stream(), RowKind::kLayerNorm, args);
        case Kind::kRmsNorm:
            args.gain = call.in(1);
            args.rstd_out = out(call, 1);
            args.epsilon = program_->model.norm_epsilon.value();
            return run_rows(stream(), RowKind::kRmsNorm, args);
        case Kind::kLayerNormInputGradient:
            args.b = call.in(1);
            args.mean = call.in(2);
            args.rstd = call.in(3);
            args.gain = call.in(4);
            return run_rows(stream(), RowKind::kLayerNormGradient, args);
        default:
            args.b = call.in(1);
            args.rstd = call.in(2);
            args.gain = call.in(3);
            return run_rows(stream(), RowKind::kRmsNormGradient, args);
    }
}

void CudaDevice::columns(const OperatorCall& call, ColumnKind kind) {
    ColumnArgs args{
        .sequences = sequences_, .context = context_, .cols = cols(call.one.operands[0]), .dy = call.in(0)};
    if (kind != ColumnKind::kBias) args.x = call.in(1);
    if (kind == ColumnKind::kLayerNorm) args.mean = call.in(2);
    if (kind != ColumnKind::kBias) args.rstd = call.in(kind == ColumnKind::kLayerNorm ? 3 : 2);
    args.watch = watch(call.index);
    args.gains = sums_.of(sequences_ * args.cols);
    args.biases = more_sums_.of(sequences_ * args.cols);
    const bool two = kind == ColumnKind::kLayerNorm;
    column_sums(stream(), kind, args, out(call, 0), out(call, two ? 1 : 0));
}

void CudaDevice::embedding(const OperatorCall& call) {
    const std::uint64_t width = program_->model.width;
    if (call.one.kind == Kind::kEmbedding) {
        PointArgs args{.count = out(call, 0).count,
                       .a = call.in(1),
                       .tokens = inputs(),
                       .out = out(call, 0),
                       .watch = watch(call.index)};
        if (call.one.operands.size() > 2) args.b = call.in(2);
        args.cols = width;
        args.context = context_;
        return run_pointwise(stream(), PointKind::kEmbedding, args);
    }
    find_places();
    OutputArray<float> rows = out(call, 0);
    if (numbers_.compact_embedding) rows.count = word_count_ * width;
    embedding_gradient(stream(), {.context = context_,
                                  .cols = width,
                                  .tokens = token_count_,
                                  .token = token_.data(),
                                  .first = token_first_.data(),
                                  .places = places_.data(),
                                  .dx = call.in(1),
                                  .out = rows,
                                  .watch = watch(call.index)});
    if (call.one.outputs.size() == 1) return;
    // Each position has one row in each sequence.
    add_sequences(stream(), {sequences_, context_ * width, call.in(1), out(call, 1), watch(call.index)});
}

void CudaDevice::softmax(const OperatorCall& call) {
    const Operator& one = call.one;
    const std::uint64_t rows = sequences_ * program_->model.heads * context_;
    RowArgs along{.rows = rows,
                  .cols = context_,
                  .context = context_,
                  .a = call.in(0),
                  .out = out(call, 0),
                  .watch = watch(call.index)};
    PointArgs each{.count = rows * context_,
                   .a = call.in(0),
                   .out = out(call, 0),
                   .cols = context_,
                   .context = context_,
                   .watch = watch(call.index)};
    if (one.operands.size() > 1) along.b = each.b = call.in(1);
    switch (one.kind) {
        case Kind::kSoftmaxMax: return run_rows(stream(), RowKind::kMax, along);
        case Kind::kSoftmaxSum: return run_rows(stream(), RowKind::kSum, along);
        case Kind::kSoftmaxDot: return run_rows(stream(), RowKind::kDot, along);
        case Kind::kSoftmaxExp: return run_pointwise(stream(), PointKind::kExp, each);
        case Kind::kSoftmaxDivide: return run_pointwise(stream(), PointKind::kDivide, each);
        default:
            each.c = call.in(2);
            each.number = arithmetic::attention_scale(program_->model.head_dim());
            return run_pointwise(stream(), PointKind::kSoftmaxGradient, each);
    }
}

void CudaDevice::loss(const OperatorCall& call) {
    const Operator& one = call.one;
    const std::uint64_t vocabulary = program_->model.vocabulary;
    const RowArgs along{.rows = row_count(),
                        .cols = vocabulary,
                        .a = call.in(0),
                        .out = out(call, 0),
                        .watch = watch(call.index)};
    PointArgs each{.count = row_count() * vocabulary,
                   .a = call.in(0),
                   .tokens = targets(),
                   .out = out(call, 0),
                   .cols = vocabulary,
                   .number = arithmetic::reciprocal(numbers_.tokens),
                   .watch = watch(call.index)};
    if (one.operands.size() > 1) each.b = call.in(1);
    switch (one.kind) {
        case Kind::kLossMax: return run_rows(stream(), RowKind::kMax, along);
        case Kind::kLossSum: return run_rows(stream(), RowKind::kSum, along);
        case Kind::kLossExp: return run_pointwise(stream(), PointKind::kExp, each);
        case Kind::kLossGradient: return run_pointwise(stream(), PointKind::kLossGradient, each);
        case Kind::kLossTokens:
            return loss_tokens(stream(), {.rows = row_count(),
                                          .cols = vocabulary,
                                          .logits = call.in(0),
                                          .max = call.in(1),
                                          .sum = call.in(2),
                                          .targets = targets(),
                                          .out = out(call, 0),
                                          .watch = watch(call.index)});
        default:
            return loss_total(stream(), {.sequences = sequences_,
                                         .context = context_,
                                         .losses = call.in(0),
                                         .sums = sums_.of(sequences_),
                                         .total = loss_total_.of(1),
                                         .loss = out(call, 0),
                                         .reciprocal = arithmetic::reciprocal(numbers_.tokens),
                                         .watch = watch(call.index)});
    }
}

void CudaDevice::norm(const OperatorCall& call, bool watching) {
    const Operator& one = call.one;
    if (one.kind == Kind::kClip)
        return clip(stream(), call.in(0), program_->clip_norm, out(call, 0), watch(call.index));
    std::uint64_t tiles = 0;
    for (const program::TensorId id : one.operands) tiles += arithmetic::tile_count(rows_of(id), cols(id));
    const OutputArray<float> sums = sums_.of(tiles);
    std::vector<SquareMatrix> matrices;
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < one.operands.size(); ++i) {
        const program::TensorId id = one.operands[i];
        matrices.push_back({.rows = rows_of(id), .cols = cols(id), .g = call.in(i), .first = first});
        if (watching) matrices.back().index = writer_of(id);
        first += arithmetic::tile_count(rows_of(id), cols(id));
    }
    square_tiles(stream(), matrices, sums, watching ? diverged_.data() : nullptr);
    norm_of_tiles(stream(), sums, more_sums_.of(tree_scratch(tiles)), out(call, 0), watch(call.index));
}

AdamWArgs CudaDevice::adamw_args(const OperatorCall& call) const {
    AdamWArgs args{.count = out(call, 0).count,
                   .coefficients = numbers_.coefficients,
                   .clip = call.in(1),
                   .g = call.in(0),
                   .w = out(call, 0),
                   .m = out(call, 1),
                   .v = out(call, 2),
                   .diverged = diverged_.data(),
                   .index = call.index};
    if (!program_->parameters[call.one.operands[2]].decays()) args.coefficients.decay = 0.0F;
    return args;
}

void CudaDevice::update_all(std::span<const AdamWArgs> tensors, UpdatePass pass) {
    std::vector<AdamWArgs> on_card;
    for (const AdamWArgs& args : tensors) {
        if (place_of(args.m.data) == Place::kCard) {
            on_card.push_back(args);
        } else {
            update_streamed(args, pass);
        }
    }
    adamw(stream(), pass, on_card);
}

void CudaDevice::update_streamed(const AdamWArgs& all, UpdatePass pass) {
    for (std::uint64_t first = 0; first < all.count; first += options_.band) {
        const std::uint64_t count = std::min(options_.band, all.count - first), bytes = count * sizeof(float);
        AdamWArgs args = all;
        args.count = args.w.count = args.m.count = args.v.count = count;
        args.g += first;
        args.w.data += first;
        args.m.data = reinterpret_cast<float*>(bands_.begin(2 * options_.band * sizeof(float)));
        args.v.data = args.m.data + options_.band;
        bands_.fill(args.m.data, all.m.data + first, bytes, HostMemory::kPinned);
        bands_.fill(args.v.data, all.v.data + first, bytes, HostMemory::kPinned);
        bands_.filled();
        adamw(stream(), pass, {&args, 1});
        if (pass != UpdatePass::kTry) {
            bands_.take(all.m.data + first, args.m.data, bytes);
            bands_.take(all.v.data + first, args.v.data, bytes);
        }
        bands_.end();
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
