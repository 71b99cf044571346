// SPDX-License-Identifier: Apache-2.0
// Gives the device fused attention of profile i16. Every output has the bits of
// contracts/arithmetic/exact_attention.hpp and attention.hpp.
#pragma once

#include "trainer/cuda/kernels/attention_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Whether attention with heads of so many numbers has fused kernels.
inline bool can_fuse_attention(std::uint64_t head_dim) { return head_dim <= attention::kNumbers; }

/// Whether the card that the calling thread uses has the shared memory for them: of compute capability 7.5
/// none has.
bool has_room_for_attention();

/// One output for `sequences` sequences. kValues comes first: the others read its `max` and `sum`; then
/// kQueryGradient, before the two that read its `inverse`, and kKeyGradient its `dot`. REQUIRES operands as
/// AttentionI16Args says; heads of at most 64 numbers and blocks of 128 tokens are checked. A card takes at
/// most 65,535 heads of all sequences.
void attention_i16(LaunchStream stream, AttentionOutput output, const AttentionI16Args& args,
                   unsigned sequences);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
