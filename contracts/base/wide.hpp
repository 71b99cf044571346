// SPDX-License-Identifier: Apache-2.0
// Gives arithmetic that must not overflow 128-bit integers: a GCC and Clang extension, named once.
#pragma once

namespace assay::base {
__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;
}  // namespace assay::base
