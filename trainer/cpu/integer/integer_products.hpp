// SPDX-License-Identifier: Apache-2.0
// Gives CpuDevice the product tables of profile i16.
#pragma once

#include "trainer/cpu/integer/product.hpp"
#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

/// REQUIRES a target that this machine has (targets.hpp).
const ProductKernels& integer_products(Target target);

/// Bytes of scratch memory that the table's product keeps in the thread that calls it with p and a pool of so
/// many threads: the largest that it was called with.
std::uint64_t integer_scratch_bytes(Target target, const Product& p, std::uint64_t threads,
                                    integer::PackedB packed);

}  // namespace assay::trainer
