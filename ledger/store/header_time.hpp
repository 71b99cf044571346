// SPDX-License-Identifier: Apache-2.0
// The law of header times, for engines, followers and auditors: each block's time is at least the genesis'
// block interval after its parent's. The law reads only headers, never a clock. How proposers and roles use
// their clocks is not part of the law (docs/decisions/0066).
#pragma once

#include "ledger/store/block.hpp"
#include "ledger/store/genesis.hpp"

namespace assay::ledger {

/// Refuses a header whose time is less than `parent_time_ms` + the genesis' block interval. The parent of
/// block 1 has time 0. Error kVerification names both times.
Outcome<void> check_header_time(const Header& header, const Genesis& genesis, std::uint64_t parent_time_ms);

/// The time that a proposer whose clock shows `wall_ms` writes. check_header_time never refuses it, even when
/// the clock has jumped back.
std::uint64_t next_header_time(const Genesis& genesis, std::uint64_t parent_time_ms, std::uint64_t wall_ms);

/// The most that a header time may be ahead of its proposer's clock: half of what roles accept. A proposer
/// waits rather than write a later time, so that no heights pass that nobody follows.
inline constexpr std::uint64_t kProposedAheadMs = 15'000;

}  // namespace assay::ledger
