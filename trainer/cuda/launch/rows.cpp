// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/launch/rows.hpp"

#include <algorithm>

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
template <class Kernel>
void start(LaunchStream stream, const typename Kernel::Args& args) {
    launch<Kernel>(Kernel::grid(args), stream, args);
}
}  // namespace

void run_pointwise(LaunchStream stream, PointKind kind, const PointArgs& args) {
    using enum PointKind;
    if (args.count == 0) return;
    switch (kind) {
        case kAdd: return start<Pointwise<kAdd>>(stream, args);
        case kGelu: return start<Pointwise<kGelu>>(stream, args);
        case kGeluGradient: return start<Pointwise<kGeluGradient>>(stream, args);
        case kSwiGlu: return start<Pointwise<kSwiGlu>>(stream, args);
        case kSwiGluGradient: return start<Pointwise<kSwiGluGradient>>(stream, args);
        case kRope: return start<Pointwise<kRope>>(stream, args);
        case kRopeGradient: return start<Pointwise<kRopeGradient>>(stream, args);
        case kEmbedding: return start<Pointwise<kEmbedding>>(stream, args);
        case kExp: return start<Pointwise<kExp>>(stream, args);
        case kDivide: return start<Pointwise<kDivide>>(stream, args);
        case kSoftmaxGradient: return start<Pointwise<kSoftmaxGradient>>(stream, args);
        case kLossGradient: return start<Pointwise<kLossGradient>>(stream, args);
    }
}

void run_rows(LaunchStream stream, RowKind kind, const RowArgs& args) {
    using enum RowKind;
    if (args.rows == 0) return;
    switch (kind) {
        case kMax: return start<RowWise<kMax>>(stream, args);
        case kSum: return start<RowWise<kSum>>(stream, args);
        case kDot: return start<RowWise<kDot>>(stream, args);
        case kLayerNorm: return start<RowWise<kLayerNorm>>(stream, args);
        case kLayerNormGradient: return start<RowWise<kLayerNormGradient>>(stream, args);
        case kRmsNorm: return start<RowWise<kRmsNorm>>(stream, args);
        case kRmsNormGradient: return start<RowWise<kRmsNormGradient>>(stream, args);
    }
}

void column_sums(LaunchStream stream, ColumnKind kind, const ColumnArgs& args, OutputArray<float> gain,
                 OutputArray<float> bias) {
    using enum ColumnKind;
    if (args.sequences == 0 || args.cols == 0) return;
    if (kind == kBias) start<ColumnChains<kBias>>(stream, args);
    if (kind == kLayerNorm) start<ColumnChains<kLayerNorm>>(stream, args);
    if (kind == kRmsNorm) start<ColumnChains<kRmsNorm>>(stream, args);
    CombineArgs combine{.sequences = args.sequences,
                        .cols = args.cols,
                        .sums = kind == kBias ? args.biases.data : args.gains.data,
                        .out = kind == kBias ? bias : gain,
                        .watch = args.watch};
    if (kind == kLayerNorm) {
        combine.other_sums = args.biases.data;
        combine.other = bias;
    }
    add_sequences(stream, combine);
}

void add_sequences(LaunchStream stream, const CombineArgs& args) { start<ColumnCombine>(stream, args); }

namespace {
// Registers for rows as long as most are; longer ones are read again.
template <SoftmaxKind kKind>
void softmax_of(LaunchStream stream, const SoftmaxArgs& args) {
    if (args.context <= 8 * kWarp) return start<SoftmaxRows<kKind, 8>>(stream, args);
    if (args.context <= 32 * kWarp) return start<SoftmaxRows<kKind, 32>>(stream, args);
    start<SoftmaxRows<kKind, 0>>(stream, args);
}
}  // namespace

void softmax_rows(LaunchStream stream, SoftmaxKind kind, const SoftmaxArgs& args) {
    using enum SoftmaxKind;
    if (args.rows == 0) return;
    switch (kind) {
        case kForward: return softmax_of<kForward>(stream, args);
        case kAgain: return softmax_of<kAgain>(stream, args);
        case kGradient: return softmax_of<kGradient>(stream, args);
    }
}

namespace {
template <class Kernel>
bool fits(const LossRowsArgs& args) {
    return args.cols <= Kernel::kMostCols && most_shared_bytes() >= sizeof(typename Kernel::Shared);
}

template <bool kGradient>
void loss_rows_of(LaunchStream stream, const LossRowsArgs& args, std::uint64_t short_row) {
    if (args.cols <= short_row || !fits<LossBlocks<kGradient>>(args))
        return start<LossRows<kGradient>>(stream, args);
    LossRowsArgs with = args;
    with.blocks = std::min<std::uint64_t>(args.rows, processor_count());
    start<LossBlocks<kGradient>>(stream, with);
}
}  // namespace

void loss_rows(LaunchStream stream, bool gradient, const LossRowsArgs& args, std::uint64_t short_row) {
    if (args.rows == 0) return;
    if (gradient) return loss_rows_of<true>(stream, args, short_row);
    loss_rows_of<false>(stream, args, short_row);
}

void tied_rows(LaunchStream stream, const TiedRowsArgs& args) {
    if (args.words * args.cols != 0) start<TiedRows>(stream, args);
}

void embedding_gradient(LaunchStream stream, const EmbeddingGradientArgs& args) {
    if (args.tokens != 0) start<EmbeddingGradient<>>(stream, args);
}

void loss_tokens(LaunchStream stream, const LossTokensArgs& args) { start<LossTokens>(stream, args); }

void loss_total(LaunchStream stream, const LossTotalArgs& args) { launch<LossTotal<>>({}, stream, args); }

void square_tiles(LaunchStream stream, std::span<const SquareMatrix> matrices, OutputArray<float> sums,
                  unsigned* diverged) {
    SquareTilesArgs args{.diverged = diverged, .sums = sums};
    unsigned blocks = 0;
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        SquareMatrix& matrix = args.matrices[args.count++];
        matrix = matrices[i];
        matrix.begin = blocks;
        blocks += SquareTiles::blocks(matrix);
        if (args.count < SquareTilesArgs::kMost && i + 1 < matrices.size()) continue;
        if (blocks != 0) launch<SquareTiles>({blocks}, stream, args);
        args.count = blocks = 0;
    }
}

std::uint64_t tree_scratch(std::uint64_t count) { return TreeSum<>::branches(count); }

void norm_of_tiles(LaunchStream stream, OutputArray<float> sums, OutputArray<float> other,
                   OutputArray<float> norm, NumberWatch watch) {
    std::uint64_t count = sums.count;
    while (count > 1) {
        const std::uint64_t branches = TreeSum<>::branches(count);
        launch<TreeSum<>>({static_cast<unsigned>(branches), 1, 1}, stream,
                          {count, sums.data, {other.data, branches}});
        const OutputArray<float> done = other;
        other = sums;
        sums = done;
        count = branches;
    }
    launch<Scalar<false>>({}, stream, {sums.data, norm, 0.0F, watch});
}

void clip(LaunchStream stream, const float* norm, float limit, OutputArray<float> scale, NumberWatch watch) {
    launch<Scalar<true>>({}, stream, {norm, scale, limit, watch});
}

namespace {
template <UpdatePass kPass>
void adamw_of(LaunchStream stream, std::span<const AdamWArgs> tensors) {
    AdamWTable table;
    unsigned blocks = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        table.begin[table.count] = blocks;
        table.tensors[table.count++] = tensors[i];
        blocks += AdamW<kPass>::blocks(tensors[i]);
        if (table.count < AdamWTable::kMost && i + 1 < tensors.size()) continue;
        if (blocks != 0) launch<AdamW<kPass>>({blocks}, stream, table);
        table.count = blocks = 0;
    }
}
}  // namespace

void adamw(LaunchStream stream, UpdatePass pass, std::span<const AdamWArgs> tensors) {
    using enum UpdatePass;
    switch (pass) {
        case kTry: return adamw_of<kTry>(stream, tensors);
        case kApply: return adamw_of<kApply>(stream, tensors);
        case kAlways: return adamw_of<kAlways>(stream, tensors);
    }
}

void check_finite(LaunchStream stream, const FiniteArgs& args) {
    if (args.rows * args.cols != 0) start<FiniteCheck>(stream, args);
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
