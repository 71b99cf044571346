// SPDX-License-Identifier: Apache-2.0
// NEON with the dot-product instructions: 4 lanes, signed bytes in fours.
#include "trainer/cpu/integer/machines.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include "contracts/arithmetic/exact_product.hpp"
#include "trainer/cpu/integer/target.hpp"

namespace assay::trainer::integer {
bool has_dot_products() {
#if defined(__linux__)
    constexpr unsigned long kDotProducts = 1UL << 20U;  // HWCAP_ASIMDDP
    static const bool has = (getauxval(AT_HWCAP) & kDotProducts) != 0;
    return has;
#else
    return false;
#endif
}
}  // namespace assay::trainer::integer

// Clang's assembler goes by the function's target; GCC's by the directive below.
#if defined(__clang__)
ASSAY_TARGET_BEGIN("dotprod")
#endif
namespace assay::trainer::integer {
namespace neon_dot {

inline constexpr std::size_t kRows = 8;
inline constexpr std::size_t kCols = 8;

#include "trainer/cpu/integer/lanes_neon-inl.hpp"

// Written as assembly that names the extension, so that the rest of the file is plain AArch64. A build for
// processors with the extension names nothing: the directive would disable other extensions for the code
// after it.
#if defined(__ARM_FEATURE_DOTPROD) || defined(__clang__)
#define ASSAY_NAME_DOTPROD ""
#else
#define ASSAY_NAME_DOTPROD ".arch armv8.2-a+dotprod\n"
#endif
inline void dot_bytes(I& sum, I a, I b) {
    asm(ASSAY_NAME_DOTPROD "sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
}
#undef ASSAY_NAME_DOTPROD

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/integer/sums-inl.hpp"
#include "trainer/cpu/integer/tile_vectors-inl.hpp"
#include "trainer/cpu/integer/digits-inl.hpp"
#include "trainer/cpu/integer/tile_dot-inl.hpp"
#include "trainer/cpu/integer/pack-inl.hpp"
#include "trainer/cpu/integer/finish-inl.hpp"
#include "trainer/cpu/integer/multiply-inl.hpp"
#include "trainer/cpu/integer/machine-inl.hpp"
// clang-format on

}  // namespace neon_dot

const Machine& neon_dot_machine() { return neon_dot::machine(); }

}  // namespace assay::trainer::integer
#if defined(__clang__)
ASSAY_TARGET_END
#endif
#endif
