// SPDX-License-Identifier: Apache-2.0
// Launches the products of both profiles, with the tiles that suit a shape. Every output has the bits of
// contracts/arithmetic (product.hpp, exact_product.hpp and the products of attention).
#pragma once

#include "trainer/cuda/kernels/pack_i16.hpp"
#include "trainer/cuda/kernels/product_f32.hpp"
#include "trainer/cuda/kernels/product_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Runs `matrices` products of one shape. REQUIRES no bias with kUpTo or kFromOn, and outputs whose columns
/// lie side by side (`to.col_stride` 1); the latter is checked before anything is launched.
void product_f32(LaunchStream stream, const ProductF32Args& args, Mask mask, unsigned matrices);

/// Packs the digits of `matrices` operands. `mask` selects the terms: kNone, kUpTo or kFromOn.
void pack_i16(LaunchStream stream, const PackArgs& args, Mask mask, unsigned matrices);

/// Returns how such products are cut along k. `args` may lack addresses.
[[nodiscard]] SplitK split_of(const ProductI16Args& args, Mask mask, unsigned matrices,
                              const Processors& processors);

/// How many numbers the parts of args.split take in args.parts.
[[nodiscard]] std::uint64_t part_numbers(const ProductI16Args& args);

/// An upper bound of part_numbers() for operands with at most so many lines and blocks of k.
[[nodiscard]] std::uint64_t most_part_numbers(const DigitPlace& a, const DigitPlace& b, unsigned processors);

/// Runs `matrices` products of packed operands. A has 2 or 3 planes, B has 2. REQUIRES args.split from
/// split_of() or empty, and room for its parts. With many processors it uses large tiles only for products
/// that have many of them.
void product_i16(LaunchStream stream, const ProductI16Args& args, Mask mask, unsigned matrices,
                 const Processors& processors);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
