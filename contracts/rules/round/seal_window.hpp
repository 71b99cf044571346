// SPDX-License-Identifier: Apache-2.0
// The number of heights in which a round's audits are sealed. It is always enough for a verifier to replay
// all its slots from the round's base at the slowest measured speed (docs/concepts/round.md). Internal to the
// rules.
#pragma once

#include "contracts/base/wide.hpp"
#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// Work units × 1000 per height, at most the largest amount.
std::uint64_t measured_speed(base::Uint128 work, std::uint64_t heights);

/// The speed of the slowest of the round's miners, each by all that it sealed until its last commit; the
/// largest number when nobody sealed anything. The speed is not verified: a miner that seals before it has
/// computed cannot shorten the window below what others need.
std::uint64_t slowest_miner(const Job& job, const Round& round, const std::vector<SlotRound>& slots);

/// A verifier has this many times as long as the slowest measured speed implies: a replay waits for files,
/// and blocks wait for messages.
inline constexpr std::uint64_t kReplayAllowance = 2;

/// Params::audit_seal_window, or if longer this product: the most slots that a verifier has in this stage,
/// times the heights that one slot takes at the slowest speed, times kReplayAllowance. The slowest speed is
/// taken over this round's miners up to their last commit, and over the enlisted verifiers in recent rounds.
/// A slot never counts for more than Params::commit_window, so that a miner that seals late on purpose cannot
/// lengthen the window without end. REQUIRES that the stage's audits are called.
std::uint64_t audit_seal_window(const RunningRound& running, Stage stage);

}  // namespace assay::contracts
