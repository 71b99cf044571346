// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/check.hpp"
#include "trainer/cpu/integer/integer_products.hpp"
#include "trainer/cpu/kernels/kernels.hpp"
#include "trainer/cpu/kernels/products.hpp"
#include "trainer/cpu/kernels/scalar_kernels.hpp"
#include "trainer/cpu/kernels/vector_kernels.hpp"
#include "trainer/host/machine.hpp"

namespace assay::trainer {

const Kernels& kernels(Target target) {
    ASSAY_CHECK(machine_has(target));
    const FloatSet set = float_set(target);
    return set == FloatSet::kScalar ? scalar_kernels() : vector_kernels(set);
}

const ProductKernels& products(program::Profile profile, Target target) {
    ASSAY_CHECK(machine_has(target));
    if (profile == program::Profile::kI16) return integer_products(target);
    const FloatSet set = float_set(target);
    return set == FloatSet::kScalar ? scalar_products() : vector_products(set);
}

}  // namespace assay::trainer
