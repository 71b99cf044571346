// SPDX-License-Identifier: Apache-2.0
// Gives the round the heights in which its audits are sealed: always enough for a verifier to replay all its
// slots from the round's base, at the slowest speed that was measured (protocol.md §2). Internal to the
// rules.
#pragma once

#include "contracts/base/wide.hpp"
#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// Work units × 1000 per height; the largest amount where that is more.
std::uint64_t measured_speed(base::Uint128 work, std::uint64_t heights);

/// The slowest of the round's miners, by all that each sealed until its last commit; the largest number where
/// nobody sealed anything. Not verified: who seals sooner than it computed shortens nothing below what others
/// need.
std::uint64_t slowest_miner(const Job& job, const Round& round, const std::vector<SlotRound>& slots);

/// A verifier has this many times as long as the slowest measured speed says: a replay waits for files, and
/// blocks for messages.
inline constexpr std::uint64_t kReplayAllowance = 2;

/// Params::audit_seal_window, or longer: the most slots that a verifier has in this stage, times the heights
/// that one of them takes at the slowest speed of this round's miners, up to their last commit, and of the
/// enlisted verifiers in recent rounds, times kReplayAllowance. A slot never counts for more than
/// Params::commit_window, so that whoever seals late on purpose cannot lengthen it without end.
/// REQUIRES that the stage's audits are called.
std::uint64_t audit_seal_window(const RunningRound& running, Stage stage);

}  // namespace assay::contracts
