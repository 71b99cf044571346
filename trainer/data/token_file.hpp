// SPDX-License-Identifier: Apache-2.0
// Token files in the format of llm.c (dev/data/data_common.py): a header of 256 little-endian int32
// (20240520, version 1, number of tokens, zeros), then the tokens as little-endian uint16.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::trainer {

inline constexpr std::int32_t kTokenFileMagic = 20240520;
inline constexpr std::uint64_t kTokenFileHeader = 1024;
/// The header's count is a signed 32-bit number.
inline constexpr std::uint64_t kTokenFileMaxTokens = 0x7fffffff;

/// REQUIRES tokens.size() <= kTokenFileMaxTokens.
base::Bytes token_file_bytes(std::span<const std::uint16_t> tokens);

/// Strict: magic, version, zero rest of the header, exact size, every token below `vocabulary`.
/// `vocabulary` 0 leaves the last check out. Errors: kUsage.
base::Outcome<std::vector<std::uint16_t>> parse_token_file(base::ByteView file, std::uint32_t vocabulary);

base::Outcome<std::vector<std::uint16_t>> read_token_file(const std::filesystem::path& path,
                                                          std::uint32_t vocabulary);

}  // namespace assay::trainer
