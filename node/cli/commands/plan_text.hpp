// SPDX-License-Identifier: Apache-2.0
// Gives `plan` and `job show` the texts of predicted numbers.
#pragma once

#include <string>

namespace assay::node {

/// By a format of printf for one double.
std::string formatted(double number, const char* format);
/// An amount of money that is a prediction: rounded to a base unit, never below zero.
std::string coins_text(double units);

}  // namespace assay::node
