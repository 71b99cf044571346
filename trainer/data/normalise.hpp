// SPDX-License-Identifier: Apache-2.0
// Unicode normalisation of text, which the tokenizer does before it cuts words.
#pragma once

#include <string>
#include <string_view>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// `text` in Normalisation Form C (Unicode Standard Annex 15), by utf8proc's tables (Unicode 15 in Debian
/// 12). Errors: kUsage when it is not UTF-8, kFailure when there is no memory for it.
base::Outcome<std::string> to_nfc(std::string_view text);

}  // namespace assay::trainer
