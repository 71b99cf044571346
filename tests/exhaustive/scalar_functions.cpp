// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "tests/exhaustive/functions.hpp"

namespace assay::exhaustive {

namespace {
float gelu32(float x) {
    float y = 0;
    arithmetic::gelu_forward({&x, 1}, {&y, 1});
    return y;
}

// What the gate of SwiGLU goes through (swiglu.hpp).
float silu32(float x) { return x * arithmetic::sigmoid32(x); }

template <float (*function)(float)>
[[gnu::flatten]] void plain(const float* x, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

#if defined(__x86_64__)
template <float (*function)(float)>
[[gnu::flatten, gnu::target("fma")]] void with_instruction(const float* x, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = function(x[i]);
}
bool has_instruction() { return __builtin_cpu_supports("fma") != 0; }
#else
template <float (*function)(float)>
void with_instruction(const float* x, float* y, std::size_t n) {
    plain<function>(x, y, n);
}
bool has_instruction() { return false; }
#endif
}  // namespace

Lanes scalar_lanes() {
    using namespace arithmetic;
    if (has_instruction()) {
        return {"scalar",
                {with_instruction<exp32>, with_instruction<tanh32>, with_instruction<log32>,
                 with_instruction<sin32>, with_instruction<cos32>, with_instruction<rsqrt32>,
                 with_instruction<sigmoid32>, with_instruction<silu32>, plain<gelu32>}};
    }
    return {"scalar",
            {plain<exp32>, plain<tanh32>, plain<log32>, plain<sin32>, plain<cos32>, plain<rsqrt32>,
             plain<sigmoid32>, plain<silu32>, plain<gelu32>}};
}

}  // namespace assay::exhaustive
