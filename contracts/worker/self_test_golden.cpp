// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/self_test.hpp"

#include "contracts/base/check.hpp"

namespace assay::worker {

base::Hash256 self_test_golden() {
    // Every target gave it on 2026-11-21; that steps are the reference interpreter's is held by
    // tests/vectors/golden_steps.txt.
    const auto golden = base::parse_hash("3df0d4b55d05c99a5a61f6d92204a54ce647be04d1945197bdfea6a5cc334a83");
    ASSAY_CHECK(golden.has_value());
    return *golden;
}

}  // namespace assay::worker
