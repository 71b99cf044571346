// SPDX-License-Identifier: Apache-2.0
// Highway kernels of the vector targets: instruction sets whose multiply-add is fused (machine.hpp).
#pragma once

#include "trainer/cpu/kernels/kernels.hpp"
#include "trainer/cpu/kernels/products.hpp"
#include "trainer/host/machine.hpp"

namespace assay::trainer {

/// REQUIRES a set that this machine has, not kScalar.
const Kernels& vector_kernels(FloatSet set);

/// The products of profile f32.
const ProductKernels& vector_products(FloatSet set);

}  // namespace assay::trainer
