// SPDX-License-Identifier: Apache-2.0
// The exact-integer product with a machine's kernels. All threads together pack slabs of both operands, then
// multiply them.
#pragma once

#include "trainer/cpu/integer/machine.hpp"
#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer::integer {

/// How much is packed at a time. It is never less than a group of lanes and a block of k, and always enough
/// groups to give every thread something to multiply.
struct Limits {
    std::uint64_t resident_bytes = 24U << 20U;  ///< of the operand that is packed least often
    std::uint64_t streamed_bytes = 3U << 20U;   ///< of a slab of the other one
    std::uint64_t depth = 8192;                 ///< blocks of k are packed together up to this depth
};

/// Computes p with the bits of arithmetic::exact_product by p.rule, then adds p.bias. REQUIRES 2 digits of b.
/// Returns whether every output is finite. Throws std::bad_alloc before it writes any. With p.packed_b, only
/// p.guard reads b.
bool product(const Machine& machine, const Product& p, ThreadPool& pool, const Limits& limits = {});

/// Whether product(p) finds its b packed.
enum class PackedB : std::uint8_t { kNo, kYes };

/// Bytes of scratch memory that product(p) on so many threads takes in its calling thread. With b packed,
/// never less than for a product of fewer rows.
std::uint64_t product_scratch_bytes(const Machine& machine, const Product& p, std::uint64_t threads,
                                    PackedB packed = PackedB::kNo, const Limits& limits = {});

/// Bytes of p.b packed as a whole; and the packing of p.b, into memory aligned to kAlignment, for p.packed_b.
std::uint64_t packed_b_bytes(const Machine& machine, const Product& p);
void pack_b(const Machine& machine, const Product& p, ThreadPool& pool, std::byte* memory);

}  // namespace assay::trainer::integer
