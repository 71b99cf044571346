// SPDX-License-Identifier: Apache-2.0
// ASSAY_CHECK is an assertion that stays on in release builds. It is for our own bugs, never for input: wrong
// input gets a Result with a reason.
#pragma once

namespace assay::base {
/// Prints the failed condition and its place in the source, then aborts the process.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;
}  // namespace assay::base

#define ASSAY_CHECK(condition)                                           \
    do {                                                                 \
        if (!(condition)) [[unlikely]]                                   \
            ::assay::base::check_failed(#condition, __FILE__, __LINE__); \
    } while (false)
