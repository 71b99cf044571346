// SPDX-License-Identifier: Apache-2.0
// The one-argument functions of contracts/arithmetic over arrays: the scalar law, and the vector lanes of
// every target of this machine.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace assay::exhaustive {

inline constexpr std::array<std::string_view, 9> kNames = {"exp",   "tanh",    "log",  "sin", "cos",
                                                           "rsqrt", "sigmoid", "silu", "gelu"};
inline constexpr std::size_t kFunctions = kNames.size();

/// y[i] = f(x[i]) for n numbers.
using ArrayFunction = void (*)(const float* x, float* y, std::size_t n);

struct Lanes {
    std::string_view target;
    std::array<ArrayFunction, kFunctions> run;  ///< in the order of kNames
};

/// The definitions. The fma instruction stands for fmaf where the machine has it: IEEE-754 fixes the result.
Lanes scalar_lanes();

/// One for every vector target that this machine can run.
std::vector<Lanes> vector_lanes();

}  // namespace assay::exhaustive
