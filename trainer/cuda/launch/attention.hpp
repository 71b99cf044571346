// SPDX-License-Identifier: Apache-2.0
// Gives the device fused attention of profile i16. Every output has the bits of
// contracts/arithmetic/exact_attention.hpp and attention.hpp.
#pragma once

#include "trainer/cuda/kernels/attention_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Whether heads of so many numbers can be fused, and whether the card that the calling thread uses has the
/// shared memory for it: cards of compute capability 7.5 have not.
inline bool can_fuse_attention(std::uint64_t head_dim) { return head_dim <= attention::kNumbers; }
bool has_room_for_attention();

/// One output for `sequences` sequences. kQueryGradient comes before kKeyGradient, which reads its `dot`.
/// REQUIRES operands whose blocks are as AttentionI16Args says, and outputs whose columns lie side by side.
void attention_i16(LaunchStream stream, AttentionOutput output, const AttentionI16Args& args,
                   unsigned sequences);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
