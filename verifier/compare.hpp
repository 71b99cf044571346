// SPDX-License-Identifier: Apache-2.0
// Gives verifiers and auditors where a claimed state and a recomputed one first part, in words that a
// miner can look up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contracts/program/tensors.hpp"

namespace assay::verifier {

/// One place at which two arrays of numbers differ. Bits of a binary32 stand in the low half.
struct Difference {
    std::string component;    ///< "parameters", "first moment", "second moment", "outer momentum", "update"
    std::string tensor;       ///< canonical name
    std::uint64_t index = 0;  ///< element of the tensor, row-major
    std::uint64_t row = 0;
    std::uint64_t column = 0;
    std::uint64_t claimed_bits = 0;
    std::uint64_t recomputed_bits = 0;
    unsigned width = 32;      ///< bits of a number: 32, or 64 for an update
    std::uint64_t count = 0;  ///< elements of this component that differ, this one included
    friend bool operator==(const Difference&, const Difference&) = default;

    /// Lowest bit that differs, 0 being the lowest of the significand.
    [[nodiscard]] unsigned bit() const;
};

/// First element, in canonical order, whose bits differ; nothing when there is none. −0 differs from +0.
/// REQUIRES both arrays to have the size of `tensors`.
std::optional<Difference> first_difference(const std::vector<program::TensorInfo>& tensors,
                                           std::string component, std::span<const float> claimed,
                                           std::span<const float> recomputed);
std::optional<Difference> first_difference(const std::vector<program::TensorInfo>& tensors,
                                           std::string component, std::span<const std::int64_t> claimed,
                                           std::span<const std::int64_t> recomputed);

/// "parameters: h.1.mlp.c_fc.weight[12345] (row 24, column 57) differs in bit 3: claimed 0x3c23d70a
/// (0.0100000), recomputed 0x3c23d702 (0.0099999); 1 element differs".
std::string describe(const Difference& difference);

}  // namespace assay::verifier
