// SPDX-License-Identifier: Apache-2.0
// Gives the device every kernel that is no product, with its grid. Every output has the bits of
// contracts/arithmetic.
#pragma once

#include "trainer/cuda/kernels/columns.hpp"
#include "trainer/cuda/kernels/loss_rows.hpp"
#include "trainer/cuda/kernels/pointwise.hpp"
#include "trainer/cuda/kernels/rows.hpp"
#include "trainer/cuda/kernels/softmax.hpp"
#include "trainer/cuda/kernels/update.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

void run_pointwise(LaunchStream stream, PointKind kind, const PointArgs& args);
void run_rows(LaunchStream stream, RowKind kind, const RowArgs& args);

/// Adds to the gradients of gains and biases; those that the kind lacks are empty. `args.gains` and
/// `args.biases` are scratch.
void column_sums(LaunchStream stream, ColumnKind kind, const ColumnArgs& args, OutputArray<float> gain,
                 OutputArray<float> bias);

/// Adds to out[j] the sums [sequences, cols] of its column, sequence after sequence.
void add_sequences(LaunchStream stream, const CombineArgs& args);

/// Rows of squares of attention, in place: one kernel for all of a pass's operators between its products.
void softmax_rows(LaunchStream stream, SoftmaxKind kind, const SoftmaxArgs& args);
/// Rows of logits: their losses, and, in place, their gradient.
void loss_rows(LaunchStream stream, bool gradient, const LossRowsArgs& args);

void embedding_gradient(LaunchStream stream, const EmbeddingGradientArgs& args);
void tied_rows(LaunchStream stream, const TiedRowsArgs& args);
void loss_tokens(LaunchStream stream, const LossTokensArgs& args);
void loss_total(LaunchStream stream, const LossTotalArgs& args);

/// The squares' sums of a matrix's tiles.
void square_tiles(LaunchStream stream, const SquareTilesArgs& args);

/// norm = sqrt of the tree over `sums`, which are overwritten; `other` is scratch of tree_scratch(count)
/// numbers. `watch` is of the norm.
std::uint64_t tree_scratch(std::uint64_t count);
void norm_of_tiles(LaunchStream stream, OutputArray<float> sums, OutputArray<float> other,
                   OutputArray<float> norm, NumberWatch watch);
void clip(LaunchStream stream, const float* norm, float limit, OutputArray<float> scale, NumberWatch watch);

void adamw(LaunchStream stream, UpdatePass pass, const AdamWArgs& args);
void check_finite(LaunchStream stream, const FiniteArgs& args);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
