// SPDX-License-Identifier: Apache-2.0
// The exact-integer product on a machine's kernels: slabs of both operands are packed by all threads
// together, then multiplied by all threads.
#pragma once

#include "trainer/exact/cpu/integer/machine.hpp"
#include "trainer/exact/cpu/products.hpp"

namespace assay::trainer::integer {

/// Bits of arithmetic::exact_product by p.rule. Returns whether every output is finite.
bool product(const Machine& machine, const Product& p, ThreadPool& pool);

/// Bytes of scratch memory that product(p) takes in its calling thread.
std::uint64_t product_scratch_bytes(const Machine& machine, const Product& p);

}  // namespace assay::trainer::integer
