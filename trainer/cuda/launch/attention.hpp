// SPDX-License-Identifier: Apache-2.0
// Launches fused attention of profile i16. Every output has the bits of
// contracts/arithmetic/exact_attention.hpp and attention.hpp.
#pragma once

#include "trainer/cuda/kernels/attention_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Whether there are fused kernels for heads of so many numbers.
inline bool can_fuse_attention(std::uint64_t head_dim) { return head_dim <= attention::kNumbers; }

/// Whether the calling thread's card has enough shared memory for them. No card of compute capability 7.5
/// does.
bool has_room_for_attention();

/// Computes one output for `sequences` sequences. Order of calls: kValues first, since the others read its
/// `max` and `sum`; then kQueryGradient, since the other two read its `inverse`, and kKeyGradient its `dot`.
/// REQUIRES operands as AttentionI16Args describes them; heads of at most 64 numbers and blocks of 128 tokens
/// are checked. A card takes at most 65,535 heads of all sequences together.
void attention_i16(LaunchStream stream, AttentionOutput output, const AttentionI16Args& args,
                   unsigned sequences);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
