// SPDX-License-Identifier: Apache-2.0
// The product tables of profile i16.
#pragma once

#include "trainer/cpu/integer/product.hpp"
#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

/// REQUIRES a target that this machine has (targets.hpp).
const ProductKernels& integer_products(Target target);

/// Bytes of scratch memory that the table's product for p keeps in its calling thread, with a pool of so many
/// threads. That thread keeps the most that any of its products needed.
std::uint64_t integer_scratch_bytes(Target target, const Product& p, std::uint64_t threads,
                                    integer::PackedB packed);

}  // namespace assay::trainer
