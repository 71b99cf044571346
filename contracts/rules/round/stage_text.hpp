// SPDX-License-Identifier: Apache-2.0
// The names of the stages of a round's audits.
#pragma once

#include <string_view>

#include "contracts/rules/round/seals.hpp"

namespace assay::contracts {

/// "panel", "confirm" or "redraw". Frozen, since notes and logs are found by these names.
std::string_view to_text(Stage stage);

}  // namespace assay::contracts
