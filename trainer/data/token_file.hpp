// SPDX-License-Identifier: Apache-2.0
// Token files in the formats of llm.c (dev/data/data_common.py): a header of 256 little-endian int32 (magic,
// version, number of tokens, zeros), then the tokens. Vocabularies of up to 65,536 tokens take GPT-2's form
// (20240520, 1, uint16), larger ones Llama 3's (20240801, 7, uint32).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/limits.hpp"

namespace assay::trainer {

using program::kTokenFileHeader;
using program::token_file_size;
/// The header's count is a signed 32-bit number; a job's streams have at most this many tokens.
inline constexpr std::uint64_t kTokenFileMaxTokens = program::kMaxTokens;

/// How the tokens of a file are written; the size of the vocabulary decides it.
struct TokenForm {
    std::uint32_t magic = 0;
    std::uint32_t version = 0;
    std::uint64_t width = 0;  ///< bytes of a token
    std::string_view type;    ///< its name in manifests: "uint16", "uint32"
};
const TokenForm& token_form(std::uint32_t vocabulary);

/// REQUIRES tokens below `vocabulary`, at most kTokenFileMaxTokens of them.
base::Bytes token_file_bytes(std::span<const std::uint32_t> tokens, std::uint32_t vocabulary);

/// Strict: checks magic, version, zeros in the rest of the header, exact size, the form that belongs to
/// `vocabulary`, and that every token is below it. `vocabulary` 0 skips the last two. Errors: kUsage.
base::Outcome<std::vector<std::uint32_t>> parse_token_file(base::ByteView file, std::uint32_t vocabulary);

base::Outcome<std::vector<std::uint32_t>> read_token_file(const std::filesystem::path& path,
                                                          std::uint32_t vocabulary);

}  // namespace assay::trainer
