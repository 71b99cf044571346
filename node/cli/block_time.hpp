// SPDX-License-Identifier: Apache-2.0
// Gives commands how long some blocks take, for people and scripts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::node {

/// Blocks from `height` to `block`; 0 when that has passed.
std::uint64_t blocks_to(std::uint64_t height, std::uint64_t block);

/// Hours that `blocks` take at `pace_ms` (block_pace_ms); nothing when the pace is not known.
std::optional<double> hours_of(std::uint64_t blocks, const std::optional<double>& pace_ms);

/// "88 blocks, about 12 minutes at the pace of the last blocks"; without a pace "88 blocks".
std::string blocks_text(std::uint64_t blocks, const std::optional<double>& pace_ms);

}  // namespace assay::node
