// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/header_time.hpp"

#include <algorithm>
#include <limits>

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

Outcome<void> check_header_time(const Header& header, const Genesis& genesis, std::uint64_t parent_time_ms) {
    const std::uint64_t time = header.time_ms;
    // Differences only: the sum could overflow.
    if (time >= parent_time_ms && time - parent_time_ms >= genesis.block_interval_ms) return {};
    return fail(ErrorKind::kVerification,
                "block " + std::to_string(header.height) + ": its time " + std::to_string(time) +
                    " is less than the block interval of " + std::to_string(genesis.block_interval_ms) +
                    " ms after its parent's, " + std::to_string(parent_time_ms),
                "its proposer breaks the rules: keep the block as evidence and follow it no further");
}

std::uint64_t next_header_time(const Genesis& genesis, std::uint64_t parent_time_ms, std::uint64_t wall_ms) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - parent_time_ms;
    return std::max(wall_ms, parent_time_ms + std::min(genesis.block_interval_ms, room));
}

}  // namespace assay::ledger
