// SPDX-License-Identifier: Apache-2.0
// Gives whoever is about to compute the operations of the law with answers that IEEE-754 fixes: rounding,
// subnormal operands and results, fma, division, square root, and integers to and from floating point.
#pragma once

#include <optional>
#include <string_view>

namespace assay::arithmetic {

/// The name of the first operation that the calling thread computes with other bits. Nothing: each has the
/// bits of the law. It computes when it is called: no answer is known to the compiler.
std::optional<std::string_view> wrong_operation();

}  // namespace assay::arithmetic
