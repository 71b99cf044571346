// SPDX-License-Identifier: Apache-2.0
// Gives the stages of a round's audits their names.
#pragma once

#include <string_view>

#include "contracts/rules/round/seals.hpp"

namespace assay::contracts {

/// "panel", "confirm" or "redraw"; frozen, since notes and logs are found by them.
std::string_view to_text(Stage stage);

}  // namespace assay::contracts
