// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <new>

#include "contracts/base/check.hpp"
#include "trainer/cpu/kernels/vector_kernels.hpp"
#include "trainer/host/scratch.hpp"

// As in vector_kernels.cpp.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/cpu/kernels/vector_products.cpp"
#include "contracts/arithmetic/reduce.hpp"
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
#include "trainer/cpu/kernels/tile-inl.hpp"
#include "trainer/cpu/kernels/product-inl.hpp"
#include "trainer/cpu/kernels/attention-inl.hpp"
// clang-format on

}  // namespace

const ProductKernels& product_table() {
    static const ProductKernels kernels = {
        .product = product,
        .attention_scores = attention_scores,
        .attention_values = attention_values,
        .attention_probability_gradient = attention_probability_gradient,
        .attention_query_gradient = attention_query_gradient,
        .attention_key_gradient = attention_key_gradient,
        .attention_value_gradient = attention_value_gradient,
        .prepare_thread = prepare_thread,
        .thread_bytes = thread_bytes,
    };
    return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::trainer
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace assay::trainer {

const ProductKernels& vector_products(FloatSet set) {
#if HWY_ARCH_X86
    ASSAY_CHECK(set == FloatSet::kAvx2 || set == FloatSet::kAvx512);
    return set == FloatSet::kAvx2 ? N_AVX2::product_table() : N_AVX3::product_table();
#elif HWY_ARCH_ARM_A64
    ASSAY_CHECK(set == FloatSet::kNeon);
    return N_NEON::product_table();
#else
#error "no vector kernels for this architecture"
#endif
}

}  // namespace assay::trainer
#endif
