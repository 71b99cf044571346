// SPDX-License-Identifier: Apache-2.0
// Tests the operations of the law whose answers IEEE-754 fixes, before a thread computes: rounding, subnormal
// operands and results, fma, division, square root, and integers to and from floating point.
#pragma once

#include <optional>
#include <string_view>

namespace assay::arithmetic {

/// The name of the first operation that the calling thread computes with other bits; nothing when each has
/// the bits of the law. It computes when it is called, so the compiler knows no answer in advance.
std::optional<std::string_view> wrong_operation();

}  // namespace assay::arithmetic
