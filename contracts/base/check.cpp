// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace assay::base {

void check_failed(const char* condition, const char* file, int line) noexcept {
    std::fprintf(stderr, "assay: internal check failed: %s (%s:%d)\n", condition, file, line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace assay::base
