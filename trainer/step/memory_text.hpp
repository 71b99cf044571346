// SPDX-License-Identifier: Apache-2.0
// Gives devices and plans memory_text, amounts of memory as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace assay::trainer {

/// "19.2 GiB".
std::string memory_text(std::uint64_t bytes);

}  // namespace assay::trainer
