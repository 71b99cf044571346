// SPDX-License-Identifier: Apache-2.0
// 128-bit integers, for arithmetic that must not overflow: a GCC and Clang extension, named once.
#pragma once

namespace assay::base {
__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;
}  // namespace assay::base
