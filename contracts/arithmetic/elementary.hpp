// SPDX-License-Identifier: Apache-2.0
// exp, tanh, sigmoid, log, sin and cos of one binary32 number, for every operator: the scalar lanes of
// elementary-inl.hpp, which defines the operation sequences and their domains. Largest errors over all 2^32
// inputs against binary64 libm (`make exhaustive`; the table with the inputs is in
// docs/concepts/numerics.md):
//   exp32    1.011 ulp, in ulp of the denormal range where the result is denormal
//   tanh32   1.331 ulp
//   sigmoid32  2.402 ulp; 1.49 ulp from zero upwards over a strided sample
//   log32    0.827 ulp on the positive normal numbers
//   sin32    0.731 ulp on [-pi/4, pi/4]; absolute error below 9.3e-8 on [-8192, 8192]
//   cos32    1.237 ulp on [-pi/4, pi/4]; absolute error below 9.3e-8 on [-8192, 8192]
//   rsqrt32  1.491 ulp on the positive finite numbers
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::arithmetic {

/// a·b + c with one rounding. IEEE-754 fixes the result, so the library's version and the instruction agree.
inline float fma32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// 1 / sqrt(x), two roundings.
inline float rsqrt32(float x) { return 1.0F / std::sqrt(x); }

/// One binary32 number as a lane set (see elementary-inl.hpp).
struct ScalarLanes {
    using F = float;
    using I = std::int32_t;
    using M = bool;
    static F set(float v) { return v; }
    static I seti(int v) { return v; }
    static F add(F a, F b) { return a + b; }
    static F sub(F a, F b) { return a - b; }
    static F mul(F a, F b) { return a * b; }
    static F div(F a, F b) { return a / b; }
    static F sqrt(F a) { return std::sqrt(a); }
    static F fma(F a, F b, F c) { return fma32(a, b, c); }
    static M less(F a, F b) { return a < b; }
    static M lessi(I a, I b) { return a < b; }
    static F select(M m, F yes, F no) { return m ? yes : no; }
    static I selecti(M m, I yes, I no) { return m ? yes : no; }
    static I bits(F a) { return std::bit_cast<I>(a); }
    static F from_bits(I a) { return std::bit_cast<F>(a); }
    static I addi(I a, I b) { return wrap(unsigned_of(a) + unsigned_of(b)); }
    static I subi(I a, I b) { return wrap(unsigned_of(a) - unsigned_of(b)); }
    static I andi(I a, I b) { return wrap(unsigned_of(a) & unsigned_of(b)); }
    static I ori(I a, I b) { return wrap(unsigned_of(a) | unsigned_of(b)); }
    static I xori(I a, I b) { return wrap(unsigned_of(a) ^ unsigned_of(b)); }
    template <int n>
    static I shl(I a) {
        return wrap(unsigned_of(a) << n);
    }
    template <int n>
    static I sar(I a) {
        return a >> n;  // arithmetic since C++20
    }
    static F to_float(I a) { return static_cast<F>(a); }

private:
    static std::uint32_t unsigned_of(I a) { return static_cast<std::uint32_t>(a); }
    static I wrap(std::uint32_t a) { return static_cast<I>(a); }
};

#include "contracts/arithmetic/elementary-inl.hpp"

inline float exp32(float x) { return exp_sequence<ScalarLanes>(x); }
inline float tanh32(float x) { return tanh_sequence<ScalarLanes>(x); }
inline float sigmoid32(float x) { return sigmoid_sequence<ScalarLanes>(x); }
inline float silu_slope32(float x, float sigmoid) { return silu_slope_sequence<ScalarLanes>(x, sigmoid); }
inline float log32(float x) { return log_sequence<ScalarLanes>(x); }
inline float sin32(float x) { return sin_cos_sequence<ScalarLanes>(x, 0); }
inline float cos32(float x) { return sin_cos_sequence<ScalarLanes>(x, 1); }

}  // namespace assay::arithmetic
