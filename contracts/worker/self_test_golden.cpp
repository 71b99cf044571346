// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/self_test.hpp"

#include "contracts/base/check.hpp"

namespace assay::worker {

base::Hash256 self_test_golden() {
    // Every target gave it on 2026-11-23; that steps are the reference interpreter's is held by
    // tests/vectors/golden_steps.txt.
    const auto golden = base::parse_hash("bee614397ad406eaf4539312fd3bededfabde21a8b21ad8a0b85a5dfba0712fb");
    ASSAY_CHECK(golden.has_value());
    return *golden;
}

}  // namespace assay::worker
