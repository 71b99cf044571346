// SPDX-License-Identifier: Apache-2.0
#include "trainer/exact/cpu/vector_kernels.hpp"

#include <memory>
#include <vector>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/pointwise.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"
#include "trainer/exact/cpu/scalar_kernels.hpp"

// Highway insists on a baseline pass; it compiles to nothing here (see the #if below).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/exact/cpu/vector_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace assay::trainer {
namespace HWY_NAMESPACE {

// Each builds on those before it.
// clang-format off
#include "trainer/exact/cpu/lanes-inl.hpp"
#include "trainer/exact/cpu/product-inl.hpp"
#include "trainer/exact/cpu/rows-inl.hpp"
#include "trainer/exact/cpu/attention-inl.hpp"
// clang-format on

const Kernels& table() {
    static const Kernels kernels = {
        .product = product,
        .add_bias = add_bias,
        .bias_gradient = bias_gradient,
        .layer_norm_forward = layer_norm_forward,
        .layer_norm_input_gradient = layer_norm_input_gradient,
        .layer_norm_parameter_gradient = layer_norm_parameter_gradient,
        .attention_scores = attention_scores,
        .softmax_max = softmax_max,
        .softmax_exp = softmax_exp,
        .softmax_sum = softmax_sum,
        .softmax_divide = softmax_divide,
        .attention_values = attention_values,
        .attention_probability_gradient = attention_probability_gradient,
        .softmax_dot = softmax_dot,
        .softmax_gradient = softmax_gradient,
        .attention_query_gradient = attention_query_gradient,
        .attention_key_gradient = attention_key_gradient,
        .attention_value_gradient = attention_value_gradient,
        .gelu_forward = gelu_forward,
        .gelu_backward = gelu_backward,
        .add = add,
        .loss_max = loss_max,
        .loss_exp = loss_exp,
        .loss_sum = loss_sum,
        .loss_gradient = loss_gradient,
        .square_tiles = square_tiles,
        .adamw = adamw,
        .all_finite = all_finite,
    };
    return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::trainer
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace assay::trainer {

bool machine_has(Target target) {
    switch (target) {
        case Target::kScalar: return true;
#if HWY_ARCH_X86
        case Target::kAvx2: return (hwy::SupportedTargets() & HWY_AVX2) != 0;
        case Target::kAvx512: return (hwy::SupportedTargets() & HWY_AVX3) != 0;
#endif
        default: return false;
    }
}

const Kernels& vector_kernels(Target target) {
    ASSAY_CHECK(target != Target::kScalar && machine_has(target));
#if HWY_ARCH_X86
    return target == Target::kAvx2 ? N_AVX2::table() : N_AVX3::table();
#else
    return scalar_kernels();
#endif
}

const Kernels& kernels(Target target) {
    return target == Target::kScalar ? scalar_kernels() : vector_kernels(target);
}

}  // namespace assay::trainer
#endif
