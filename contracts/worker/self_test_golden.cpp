// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/self_test.hpp"

#include "contracts/base/check.hpp"

namespace assay::worker {

base::Hash256 self_test_golden() {
    // The reference interpreter gave it, the processor's scalar and AVX2 targets and the emulated card, on
    // 2026-11-28; that steps are the interpreter's on every target is held by tests/vectors/golden_steps.txt.
    const auto golden = base::parse_hash("6ad7a30f794bdb9736e12318918c82a9c33aaa6212b816541c96e71e925dc424");
    ASSAY_CHECK(golden.has_value());
    return *golden;
}

}  // namespace assay::worker
