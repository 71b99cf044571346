// SPDX-License-Identifier: Apache-2.0
// Division by a number that many others are divided by, too. A division has to find its divisor's reciprocal
// and to look out for exponents at the ends of the range; whoever divides often does both once.
#pragma once

#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// a / b, with the bits of div_rn. REQUIRES `inverse` to be 1 / b rounded once, b >= 1, and a to be 0, or in
/// [2^-100, b] with a / b >= 2^-126. The first correction makes the quotient one of the two numbers next to
/// the exact one, or it itself. From such a one and the rounded reciprocal the second gives the exact one
/// rounded to nearest (Markstein, IBM Journal of Research and Development 34, 1990), if its remainder is
/// exact. That of a smaller a would have parts below the smallest subnormal number.
ASSAY_SIMT float quotient(float a, float b, float inverse) {
    const float first = mul_rn(a, inverse);
    const float second = fma_rn(fma_rn(-first, b, a), inverse, first);
    return fma_rn(fma_rn(-second, b, a), inverse, second);
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
