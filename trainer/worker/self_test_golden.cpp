// SPDX-License-Identifier: Apache-2.0
#include "trainer/worker/self_test.hpp"

#include "contracts/base/check.hpp"

namespace assay::trainer::worker {

base::Hash256 self_test_golden() {
    // Computed with the reference interpreter (contracts/program/reference_step.hpp).
    const auto golden = base::parse_hash("42ef9c27098ca82e4b64014c5538a76d7bc8c71e28c47c272750cbb079de037b");
    ASSAY_CHECK(golden.has_value());
    return *golden;
}

}  // namespace assay::trainer::worker
