// SPDX-License-Identifier: Apache-2.0
// The leaves of a matrix's root (state_root.hpp), for code that hashes a matrix part by part.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/base/hash.hpp"

namespace assay::program {

/// Writes the hashes of a matrix's tiles to `out`, in the order of the leaves of tensor_root; `hash` computes
/// them. REQUIRES rows · cols values and a place for each tile.
void tile_hashes(std::uint64_t rows, std::uint64_t cols, std::span<const float> values, base::BatchHash hash,
                 std::span<base::Hash256> out);

}  // namespace assay::program
