// SPDX-License-Identifier: Apache-2.0
// Shapes of the matrix products that benches time, on any device and with a peer.
#pragma once

#include <cstdint>

namespace assay::trainer {

/// Matrix product of a linear layer: `tokens` rows of `in` numbers times a weight of in × out.
struct GemmShape {
    std::uint64_t tokens = 0;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    [[nodiscard]] double flops() const {
        return 2.0 * static_cast<double>(tokens) * static_cast<double>(in) * static_cast<double>(out);
    }
};

/// Which of the three products of a linear layer, or which gradient of the LM head. In the head `out` is the
/// size of the vocabulary, the weight is out × in, and profile i16 gives the logits' gradient three digits.
enum class GemmKind { kForward, kInputGradient, kWeightGradient, kHeadInputGradient, kHeadWeightGradient };

}  // namespace assay::trainer
