// SPDX-License-Identifier: Apache-2.0
// The AMX machine without its name and its registers: the file that includes this one defines `Registers`. 16
// lanes of AVX-512 do everything but the multiplication. No guard.

inline constexpr std::size_t kRows = 16;
inline constexpr std::size_t kCols = 16;

// Each builds on those before it.
// clang-format off
#include "trainer/cpu/integer/lanes512-inl.hpp"
#include "trainer/cpu/integer/digits-inl.hpp"
#include "trainer/cpu/integer/tile_amx-inl.hpp"
#include "trainer/cpu/integer/pack-inl.hpp"
#include "trainer/cpu/integer/finish-inl.hpp"
#include "trainer/cpu/integer/multiply_amx-inl.hpp"
#include "trainer/cpu/integer/machine-inl.hpp"
// clang-format on
