// SPDX-License-Identifier: Apache-2.0
// Gives the device products of both profiles: kernels with the tiles that suit a shape. Every output has the
// bits of contracts/arithmetic (product.hpp, exact_product.hpp and the products of attention).
#pragma once

#include "trainer/cuda/kernels/pack_i16.hpp"
#include "trainer/cuda/kernels/product_f32.hpp"
#include "trainer/cuda/kernels/product_i16.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// `matrices` products of one shape. A bias and kUpTo or kFromOn do not go together. REQUIRES outputs whose
/// columns lie side by side (`to.col_stride` 1), also on a card: checked before anything is launched.
void product_f32(LaunchStream stream, const ProductF32Args& args, Mask mask, unsigned matrices);

/// Digits of `matrices` operands. `mask` says which terms there are: kNone, kUpTo or kFromOn.
void pack_i16(LaunchStream stream, const PackArgs& args, Mask mask, unsigned matrices);

/// What is cut along k of such products; `args` may lack addresses.
[[nodiscard]] SplitK split_of(const ProductI16Args& args, Mask mask, unsigned matrices,
                              const Processors& processors);

/// The numbers that the parts of args.split take in args.parts.
[[nodiscard]] std::uint64_t part_numbers(const ProductI16Args& args);

/// At least the numbers of all parts of a product of operands with at most so many lines and blocks of k.
[[nodiscard]] std::uint64_t most_part_numbers(const DigitPlace& a, const DigitPlace& b, unsigned processors);

/// `matrices` products of packed operands; those of A have 2 or 3 planes, those of B 2. REQUIRES what
/// split_of() says in args.split, or nothing, and room for its parts. With many processors large tiles are
/// taken only where there are many.
void product_i16(LaunchStream stream, const ProductI16Args& args, Mask mask, unsigned matrices,
                 const Processors& processors);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
