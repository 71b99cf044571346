// SPDX-License-Identifier: Apache-2.0
// The tokenizer's word patterns: they cut text into words, and BPE merges only inside a word.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// The model whose pattern cuts the text.
enum class SplitRule : std::uint8_t {
    kGpt2,   ///< openai/gpt-2, encoder.py; `ByteLevel` with its own pattern in tokenizer.json
    kLlama3  ///< meta-llama/llama3, tokenizer.py: digits by threes, line ends apart, capitals in contractions
};

/// The pattern as tokenizer.json spells it.
std::string_view split_pattern(SplitRule rule);

/// Calls `take` with each word, in order; the words joined are the text. Text that is not UTF-8 is kUsage,
/// before the first call. White space is Unicode's White_Space; letters and numbers are those of Unicode 16,
/// so newer characters split as symbols.
base::Outcome<void> split_words(SplitRule rule, std::string_view text,
                                const std::function<void(std::string_view)>& take);

}  // namespace assay::trainer
