// SPDX-License-Identifier: Apache-2.0
#include "trainer/worker/self_test.hpp"

#include "contracts/base/check.hpp"

namespace assay::trainer::worker {

base::Hash256 self_test_golden() {
    // Every target gave it on 2026-11-21; that steps are the reference interpreter's is held by
    // tests/vectors/golden_steps.txt.
    const auto golden = base::parse_hash("e1c54cbf9411bcb06da98ce002b7ad5dda58375f4e15f47c2387412de957e982");
    ASSAY_CHECK(golden.has_value());
    return *golden;
}

}  // namespace assay::trainer::worker
