// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/plan_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "contracts/rules/tables.hpp"

namespace assay::node {

std::string formatted(double number, const char* format) {
    char text[96];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

std::string coins_text(double units) {
    const double most = static_cast<double>(base::kAmountMax) / 2;
    const auto whole = static_cast<std::uint64_t>(std::clamp(std::round(units), 0.0, most));
    return base::to_text(base::Amount::of(whole).value_or(base::Amount{}));
}

}  // namespace assay::node
