// SPDX-License-Identifier: Apache-2.0
// tokenizer.json, the file of Hugging Face `tokenizers` (model BPE, ByteLevel pre-tokenizer and decoder).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trainer/data/tokenizer.hpp"

namespace assay::trainer {

/// The file's text; the same tables always give the same bytes. Merges are written as arrays
/// (tokenizers >= 0.20).
std::string tokenizer_to_json(const Tokenizer& tokenizer);

/// Reads what tokenizer_to_json writes and what Hugging Face writes for a GPT-2-like tokenizer: merges as
/// arrays or as "a b" texts. Refuses what would give other ids than ours: another model, normalizer or
/// pre-tokenizer, dropout, holes in the ids. Errors: kUsage.
base::Outcome<Tokenizer> tokenizer_from_json(std::string_view json);

base::Outcome<Tokenizer> read_tokenizer(const std::filesystem::path& path);

}  // namespace assay::trainer
