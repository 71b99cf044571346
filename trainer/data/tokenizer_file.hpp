// SPDX-License-Identifier: Apache-2.0
// Reads and writes tokenizer.json, the file of Hugging Face `tokenizers` (model BPE, byte level).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "trainer/data/tokenizer.hpp"

namespace assay::trainer {

/// The file's text; the same tables always give the same bytes. Merges are written as arrays
/// (tokenizers >= 0.20).
std::string tokenizer_to_json(const Tokenizer& tokenizer);

/// Reads what tokenizer_to_json writes and what Hugging Face writes for byte-level BPE with the word pattern
/// of GPT-2 or Llama 3: normalizer NFC or none, added tokens, ignore_merges, merges as arrays or as "a b"
/// texts, a template of special tokens around texts. Refuses a file that would give other ids than ours
/// there, naming the field: another model, normalizer or pre-tokenizer, dropout, truncation, padding, added
/// tokens that strip or stand for single words, gaps in the ids. Errors: kUsage.
base::Outcome<Tokenizer> tokenizer_from_json(std::string_view json);

/// Largest file that is read, in bytes.
inline constexpr std::uint64_t kMaxTokenizerFile = std::uint64_t{64} << 20;

base::Outcome<Tokenizer> read_tokenizer(const std::filesystem::path& path);

}  // namespace assay::trainer
