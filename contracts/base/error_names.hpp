// SPDX-License-Identifier: Apache-2.0
// Gives what prints errors, or encodes them, the names of their kinds.
#pragma once

#include <string_view>

#include "contracts/base/error.hpp"

namespace assay::base {

/// Name of a kind of error in kebab-case, stable: "not-found". It is `error.kind` of the JSON output.
std::string_view to_text(ErrorKind kind);

}  // namespace assay::base
