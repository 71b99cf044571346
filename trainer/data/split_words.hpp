// SPDX-License-Identifier: Apache-2.0
// The GPT-2 word pattern: cuts text into the words inside which BPE merges.
#pragma once

#include <functional>
#include <string_view>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// Calls `take` with each word, in order; the words joined are the text. REQUIRES UTF-8 text; anything else
/// is kUsage before the first call. White space is Unicode's White_Space, letters and numbers are those of
/// PCRE2's Unicode tables (14 in Debian 12): characters younger than that split as symbols.
base::Outcome<void> split_words(std::string_view text, const std::function<void(std::string_view)>& take);

}  // namespace assay::trainer
