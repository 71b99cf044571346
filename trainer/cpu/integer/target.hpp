// SPDX-License-Identifier: Apache-2.0
// Compiles part of a source file for an instruction set beyond the project's baseline. The standard library's
// headers must stay outside that part, because the linker keeps one copy of what they define for the whole
// program.
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
