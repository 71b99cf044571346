// SPDX-License-Identifier: Apache-2.0
// Gives commands the most that they read into memory.
#pragma once

#include <cstdint>

namespace assay::node {

inline constexpr std::uint64_t kStateLimit = std::uint64_t{16} << 30;      ///< bytes of a base state
inline constexpr std::uint64_t kTokenizerLimit = std::uint64_t{64} << 20;  ///< bytes of a tokenizer.json

}  // namespace assay::node
