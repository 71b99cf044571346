// SPDX-License-Identifier: Apache-2.0
// Tensors of a program, by role and shape: what its operators read and write.
#pragma once

#include <cstdint>
#include <string>

namespace assay::program {

using TensorId = std::uint32_t;

/// A number that depends on the batch: fixed + per_sequence · sequences.
struct Extent {
    std::uint64_t fixed = 0;
    std::uint64_t per_sequence = 0;
    [[nodiscard]] std::uint64_t of(std::uint64_t sequences) const { return fixed + per_sequence * sequences; }
    friend bool operator==(const Extent&, const Extent&) = default;
};

enum class TensorRole : std::uint8_t {
    kParameter = 1,      ///< canonical order: tensor id = place in parameter_tensors()
    kFirstMoment,        ///< in the same order
    kSecondMoment,       ///< in the same order
    kParameterGradient,  ///< accumulates over the step, starts at +0
    kTokens,             ///< u32 inputs [T], targets [T] per sequence
    kActivation,
    kGradient,  ///< of an activation
    kScalar,    ///< loss, norm, clip
};

struct Tensor {
    std::string name;
    TensorRole role = TensorRole::kActivation;
    Extent rows;
    std::uint64_t cols = 0;
};

}  // namespace assay::program
