// SPDX-License-Identifier: Apache-2.0
// Gives engines, followers and auditors the law of header times: each block's time is at least the block
// interval of its genesis after its parent's. It reads headers only, never a clock; what proposers and roles
// ask of their clocks besides is no law (docs/decisions/0066).
#pragma once

#include "ledger/store/block.hpp"
#include "ledger/store/genesis.hpp"

namespace assay::ledger {

/// Refuses a header whose time is less than `parent_time_ms` + the genesis' block interval. The parent of
/// block 1 has time 0. Error kVerification names both times.
Outcome<void> check_header_time(const Header& header, const Genesis& genesis, std::uint64_t parent_time_ms);

/// The time that a proposer writes, whose clock says `wall_ms`: never one that check_header_time refuses,
/// also when the clock has jumped back.
std::uint64_t next_header_time(const Genesis& genesis, std::uint64_t parent_time_ms, std::uint64_t wall_ms);

/// A proposer writes no time that is further ahead of its clock: half of what roles let pass. It waits
/// instead, so that heights do not go by that nobody follows.
inline constexpr std::uint64_t kProposedAheadMs = 15'000;

}  // namespace assay::ledger
