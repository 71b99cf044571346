// SPDX-License-Identifier: Apache-2.0
// Launches the kernels of steps that are not products, each with its grid. Every output has the bits of
// contracts/arithmetic.
#pragma once

#include <span>

#include "trainer/cuda/kernels/columns.hpp"
#include "trainer/cuda/kernels/loss_blocks.hpp"
#include "trainer/cuda/kernels/pointwise.hpp"
#include "trainer/cuda/kernels/rows.hpp"
#include "trainer/cuda/kernels/softmax.hpp"
#include "trainer/cuda/kernels/update.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

void run_pointwise(LaunchStream stream, PointKind kind, const PointArgs& args);
void run_rows(LaunchStream stream, RowKind kind, const RowArgs& args);

/// Adds the sums of columns to the gradients of gains and biases. A gradient that the kind lacks is empty.
/// `args.gains` and `args.biases` are scratch.
void column_sums(LaunchStream stream, ColumnKind kind, const ColumnArgs& args, OutputArray<float> gain,
                 OutputArray<float> bias);

/// Adds to out[j] its column of the sums [sequences, cols], sequence after sequence.
void add_sequences(LaunchStream stream, const CombineArgs& args);

/// Works on rows of attention's squares, in place: one kernel for all operators between a pass's products.
void softmax_rows(LaunchStream stream, SoftmaxKind kind, const SoftmaxArgs& args);
/// A shorter row of logits would leave a thread block of its own idle; it has a warp.
inline constexpr std::uint64_t kShortRow = 8192;
/// Computes the losses of rows of logits and, with `gradient`, in place their gradient. Rows of more numbers
/// than `short_row` are held in shared memory, if there is room for one.
void loss_rows(LaunchStream stream, bool gradient, const LossRowsArgs& args,
               std::uint64_t short_row = kShortRow);

void embedding_gradient(LaunchStream stream, const EmbeddingGradientArgs& args);
void tied_rows(LaunchStream stream, const TiedRowsArgs& args);
void loss_tokens(LaunchStream stream, const LossTokensArgs& args);
void loss_total(LaunchStream stream, const LossTotalArgs& args);

/// The sum of squares of each tile of the matrices. `diverged` notes their operators; null: not wanted.
void square_tiles(LaunchStream stream, std::span<const SquareMatrix> matrices, OutputArray<float> sums,
                  unsigned* diverged);

/// norm = the square root of the tree's sum over `sums`, which it overwrites. `other` is scratch of
/// tree_scratch(count) numbers. `watch` watches the norm.
std::uint64_t tree_scratch(std::uint64_t count);
void norm_of_tiles(LaunchStream stream, OutputArray<float> sums, OutputArray<float> other,
                   OutputArray<float> norm, NumberWatch watch);
void clip(LaunchStream stream, const float* norm, float limit, OutputArray<float> scale, NumberWatch watch);

void adamw(LaunchStream stream, UpdatePass pass, std::span<const AdamWArgs> tensors);
void check_finite(LaunchStream stream, const FiniteArgs& args);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
