// SPDX-License-Identifier: Apache-2.0
// Gives source files code for an instruction set beyond the project's baseline, in part of a file only:
// what the standard library's headers define must not be compiled with it, because the linker keeps one
// copy for everyone.
#pragma once

#define ASSAY_PRAGMA(x) _Pragma(#x)
#if defined(__clang__)
#define ASSAY_TARGET_BEGIN(list) \
    ASSAY_PRAGMA(clang attribute push(__attribute__((target(list))), apply_to = function))
#define ASSAY_TARGET_END _Pragma("clang attribute pop")
#else
#define ASSAY_TARGET_BEGIN(list) _Pragma("GCC push_options") ASSAY_PRAGMA(GCC target list)
#define ASSAY_TARGET_END _Pragma("GCC pop_options")
#endif
