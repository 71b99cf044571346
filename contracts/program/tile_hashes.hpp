// SPDX-License-Identifier: Apache-2.0
// Gives whoever hashes a matrix part by part the leaves of its root (state_root.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "contracts/base/hash.hpp"

namespace assay::program {

/// Hashes of the tiles of a matrix in the order of the leaves of tensor_root; `hash` makes them. REQUIRES
/// rows · cols values and a place for each tile.
void tile_hashes(std::uint64_t rows, std::uint64_t cols, std::span<const float> values, base::BatchHash hash,
                 std::span<base::Hash256> out);

}  // namespace assay::program
