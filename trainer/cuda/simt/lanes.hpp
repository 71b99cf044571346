// SPDX-License-Identifier: Apache-2.0
// One binary32 number as a lane set, with which kernels get exp, tanh, sigmoid, log and the slope of silu:
// the text of the law (contracts/arithmetic/elementary-inl.hpp), compiled for the GPU and for the emulation.
#pragma once

#include <cstdint>

#include "trainer/cuda/simt/simt.hpp"

#define ASSAY_SEQUENCE ASSAY_SIMT

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// See elementary-inl.hpp.
struct SimtLanes {
    using F = float;
    using I = std::int32_t;
    using M = bool;
    static ASSAY_SIMT F set(float v) { return v; }
    static ASSAY_SIMT I seti(int v) { return v; }
    static ASSAY_SIMT F add(F a, F b) { return add_rn(a, b); }
    static ASSAY_SIMT F sub(F a, F b) { return sub_rn(a, b); }
    static ASSAY_SIMT F mul(F a, F b) { return mul_rn(a, b); }
    static ASSAY_SIMT F div(F a, F b) { return div_rn(a, b); }
    static ASSAY_SIMT F sqrt(F a) { return sqrt_rn(a); }
    static ASSAY_SIMT F fma(F a, F b, F c) { return fma_rn(a, b, c); }
    static ASSAY_SIMT M less(F a, F b) { return a < b; }
    static ASSAY_SIMT M lessi(I a, I b) { return a < b; }
    static ASSAY_SIMT F select(M m, F yes, F no) { return m ? yes : no; }
    static ASSAY_SIMT I selecti(M m, I yes, I no) { return m ? yes : no; }
    static ASSAY_SIMT I bits(F a) { return bits_of(a); }
    static ASSAY_SIMT F from_bits(I a) { return cuda::from_bits(a); }
    static ASSAY_SIMT I addi(I a, I b) { return wrap(word(a) + word(b)); }
    static ASSAY_SIMT I subi(I a, I b) { return wrap(word(a) - word(b)); }
    static ASSAY_SIMT I andi(I a, I b) { return wrap(word(a) & word(b)); }
    static ASSAY_SIMT I ori(I a, I b) { return wrap(word(a) | word(b)); }
    static ASSAY_SIMT I xori(I a, I b) { return wrap(word(a) ^ word(b)); }
    template <int n>
    static ASSAY_SIMT I shl(I a) {
        return wrap(word(a) << n);
    }
    template <int n>
    static ASSAY_SIMT I sar(I a) {
        return a >> n;
    }
    static ASSAY_SIMT F to_float(I a) { return static_cast<F>(a); }

private:
    static ASSAY_SIMT std::uint32_t word(I a) { return static_cast<std::uint32_t>(a); }
    static ASSAY_SIMT I wrap(std::uint32_t a) { return static_cast<I>(a); }
};

#include "contracts/arithmetic/elementary-inl.hpp"

ASSAY_SIMT float exp32(float x) { return exp_sequence<SimtLanes>(x); }
ASSAY_SIMT float tanh32(float x) { return tanh_sequence<SimtLanes>(x); }
ASSAY_SIMT float sigmoid32(float x) { return sigmoid_sequence<SimtLanes>(x); }
ASSAY_SIMT float silu_slope32(float x, float sigmoid) { return silu_slope_sequence<SimtLanes>(x, sigmoid); }
ASSAY_SIMT float log32(float x) { return log_sequence<SimtLanes>(x); }
ASSAY_SIMT float rsqrt32(float x) { return div_rn(1.0F, sqrt_rn(x)); }

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
