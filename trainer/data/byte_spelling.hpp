// SPDX-License-Identifier: Apache-2.0
// GPT-2's printable stand-ins for bytes, in which tokenizer.json spells tokens. A byte that is a visible
// Latin-1 character stands for itself; the others get code points from 256 up, in the order of the bytes
// (openai/gpt-2, encoder.py, bytes_to_unicode).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::trainer {

/// Bytes -> their spelling, UTF-8.
std::string spell_bytes(std::string_view bytes);

/// The bytes that `text` spells; nothing when a character stands for no byte.
std::optional<std::string> unspell_bytes(std::string_view text);

}  // namespace assay::trainer
