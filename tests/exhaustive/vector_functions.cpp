// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/reduce.hpp"
#include "tests/exhaustive/functions.hpp"
#include "trainer/cpu/kernels/kernels.hpp"
#include "trainer/cpu/kernels/vector_kernels.hpp"

// The targets of trainer/cpu/kernels/vector_kernels.cpp.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/exhaustive/vector_functions.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace assay::trainer {
namespace HWY_NAMESPACE {
#include "trainer/cpu/kernels/lanes-inl.hpp"

namespace exhaustive_lanes {
void exp(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return exp_sequence<L>(v); });
}
void tanh(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return tanh_sequence<L>(v); });
}
void log(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return log_sequence<L>(v); });
}
void sin(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return sin_cos_sequence<L>(v, 0); });
}
void cos(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return sin_cos_sequence<L>(v, 1); });
}
void rsqrt(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return hn::Div(L::set(1.0F), hn::Sqrt(v)); });
}
void sigmoid(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return sigmoid_sequence<L>(v); });
}
void silu(const float* x, float* y, std::size_t n) {
    map1(n, x, y, [](V v) HWY_ATTR { return hn::Mul(v, sigmoid_sequence<L>(v)); });
}
}  // namespace exhaustive_lanes

}  // namespace HWY_NAMESPACE
}  // namespace assay::trainer
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace assay::exhaustive {

namespace {
template <trainer::Target target>
void gelu(const float* x, float* y, std::size_t n) {
    trainer::kernels(target).gelu_forward({x, n}, {y, n});
}
}  // namespace

std::vector<Lanes> vector_lanes() {
    using trainer::Target;
    std::vector<Lanes> all;
#if HWY_ARCH_X86
    if (trainer::machine_has(Target::kAvx2)) {
        using namespace trainer::N_AVX2::exhaustive_lanes;
        all.push_back({"avx2", {exp, tanh, log, sin, cos, rsqrt, sigmoid, silu, gelu<Target::kAvx2>}});
    }
    if (trainer::machine_has(Target::kAvx512)) {
        using namespace trainer::N_AVX3::exhaustive_lanes;
        all.push_back({"avx512", {exp, tanh, log, sin, cos, rsqrt, sigmoid, silu, gelu<Target::kAvx512>}});
    }
#endif
    return all;
}

}  // namespace assay::exhaustive
#endif
