// SPDX-License-Identifier: Apache-2.0
// Attention's exact products of one head with a machine's kernels, on the calling thread. They have the bits
// of exact_attention.hpp. Each returns whether every number that it wrote is finite.
#pragma once

#include <span>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/matrix.hpp"
#include "trainer/cpu/integer/machine.hpp"

namespace assay::trainer::integer {

/// out[i,j] = (product of a[i,·] and b[j,·]) · scale, for j <= i. Entries above the diagonal do not change.
bool lower_products(const Machine& machine, arithmetic::HeadShape shape, arithmetic::HeadView a,
                    arithmetic::HeadView b, float scale, std::span<float> out);

/// out[i,c] = product of m[i,0…i] and x[0…i,c].
bool rows_times(const Machine& machine, arithmetic::HeadShape shape, std::span<const float> m,
                arithmetic::HeadView x, arithmetic::HeadOut out);

/// out[j,c] = or += product of m[j…T−1,j] and x[j…T−1,c].
bool columns_times(const Machine& machine, arithmetic::HeadShape shape, std::span<const float> m,
                   arithmetic::HeadView x, arithmetic::HeadOut out, arithmetic::ChainStart start);

/// Bytes of attention_scratch() that these three need in the calling thread for heads of this shape. They
/// allocate what is missing, and throw std::bad_alloc when they cannot.
std::uint64_t attention_scratch_bytes(const Machine& machine, arithmetic::HeadShape shape);

}  // namespace assay::trainer::integer
