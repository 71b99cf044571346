// SPDX-License-Identifier: Apache-2.0
// memory_text writes amounts of memory for people.
#pragma once

#include <cstdint>
#include <string>

namespace assay::trainer {

/// "19.2 GiB".
std::string memory_text(std::uint64_t bytes);

}  // namespace assay::trainer
