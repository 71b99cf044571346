// SPDX-License-Identifier: Apache-2.0
// The names of the kinds of errors, for code that prints or encodes them.
#pragma once

#include <string_view>

#include "contracts/base/error.hpp"

namespace assay::base {

/// Name of a kind of error in kebab-case, stable: "not-found". It is `error.kind` of the JSON output.
std::string_view to_text(ErrorKind kind);

}  // namespace assay::base
