// SPDX-License-Identifier: Apache-2.0
// Gives the list of targets the kernels that are the definitions themselves: those of every machine,
// without vectors.
#pragma once

#include "trainer/cpu/kernels/kernels.hpp"
#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

/// The definitions themselves.
const Kernels& scalar_kernels();

/// Those of profile f32.
const ProductKernels& scalar_products();

}  // namespace assay::trainer
