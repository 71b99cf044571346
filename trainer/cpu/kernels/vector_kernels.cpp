// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/kernels/vector_kernels.hpp"

#include <cstring>
#include <vector>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

// Highway insists on a baseline pass; it compiles to nothing here (see the #if below).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/cpu/kernels/vector_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace assay::trainer {
namespace HWY_NAMESPACE {
namespace {

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/kernels/lanes-inl.hpp"
#include "trainer/cpu/kernels/rows-inl.hpp"
#include "trainer/cpu/kernels/softmax-inl.hpp"
#include "trainer/cpu/kernels/llama-inl.hpp"
#if HWY_TARGET == HWY_AVX3
#include "trainer/cpu/kernels/blake2b-inl.hpp"
#else
inline constexpr base::BatchHash hash_batch = base::hash_one_by_one;
#endif
// clang-format on

}  // namespace

const Kernels& kernel_table() {
    static const Kernels kernels = {
        .add_bias = add_bias,
        .bias_gradient = bias_gradient,
        .layer_norm_forward = layer_norm_forward,
        .layer_norm_input_gradient = layer_norm_input_gradient,
        .layer_norm_parameter_gradient = layer_norm_parameter_gradient,
        .softmax_max = softmax_max,
        .softmax_exp = softmax_exp,
        .softmax_sum = softmax_sum,
        .softmax_divide = softmax_divide,
        .softmax_dot = softmax_dot,
        .softmax_gradient = softmax_gradient,
        .softmax = softmax,
        .softmax_again = softmax_again,
        .softmax_backward = softmax_backward,
        .gelu_forward = gelu_forward,
        .gelu_backward = gelu_backward,
        .add = add,
        .loss_max = loss_max,
        .loss_exp = loss_exp,
        .loss_sum = loss_sum,
        .loss_gradient = loss_gradient,
        .loss_rows = loss_rows,
        .loss_rows_forward = loss_rows_forward,
        .square_tiles = square_tiles,
        .adamw = adamw,
        .outer_nesterov = outer_nesterov,
        .all_finite = all_finite,
        .largest = largest,
        .bounded = bounded,
        .rms_norm_forward = rms_norm_forward,
        .rms_norm_input_gradient = rms_norm_input_gradient,
        .rms_norm_parameter_gradient = rms_norm_parameter_gradient,
        .rope_forward = rope_forward,
        .rope_backward = rope_backward,
        .swiglu_forward = swiglu_forward,
        .swiglu_backward = swiglu_backward,
        .hash_batch = hash_batch,
    };
    return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::trainer
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace assay::trainer {

const Kernels& vector_kernels(FloatSet set) {
#if HWY_ARCH_X86
    ASSAY_CHECK(set == FloatSet::kAvx2 || set == FloatSet::kAvx512);
    return set == FloatSet::kAvx2 ? N_AVX2::kernel_table() : N_AVX3::kernel_table();
#elif HWY_ARCH_ARM_A64
    ASSAY_CHECK(set == FloatSet::kNeon);
    return N_NEON::kernel_table();
#else
#error "no vector kernels for this architecture"
#endif
}

}  // namespace assay::trainer
#endif
