// SPDX-License-Identifier: Apache-2.0
// Kernels of target kScalar, which every machine has: the definitions themselves, without vectors.
#pragma once

#include "trainer/cpu/kernels/kernels.hpp"
#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

/// The definitions themselves.
const Kernels& scalar_kernels();

/// The products of profile f32.
const ProductKernels& scalar_products();

}  // namespace assay::trainer
