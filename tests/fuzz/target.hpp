// SPDX-License-Identifier: Apache-2.0
// What a fuzz target is: seeds(), valid inputs to start from, and run(), which must neither crash, hang nor
// break the property it checks (ASSAY_CHECK), whatever the bytes. main.cpp makes of it a replay test with
// fixed mutations (`make test`) or, with ASSAY_FUZZ, a libFuzzer binary.
#pragma once

#include <vector>

#include "contracts/base/bytes.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds();
void run(base::ByteView input);

}  // namespace assay::fuzz
