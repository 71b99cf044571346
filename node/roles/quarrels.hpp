// SPDX-License-Identifier: Apache-2.0
// Gives a cheat its moves in disputes: challenges, picks, posts, witnesses and concessions that no honest
// role makes. They are a pure function of the ledger's state, for the simulator and for drills of roles.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "contracts/rules/state/state.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::node {

/// How a party plays games, in addition to its role or in place of it.
enum class Quarrel : std::uint8_t {
    kNone,
    kGriefs,    ///< challenges claims of honest miners, picks at random, then stays silent or concedes
    kThrows,    ///< challenges claims of its accomplices, concedes, and calls vouchers when they conceded
    kStalls,    ///< challenges claims of its accomplices, then stays silent
    kConcedes,  ///< as claimant: concedes every game
    kCrafts     ///< as claimant: posts hashes that nobody computed, and opens a long witness of nothing
};

struct QuarrelPlan {
    Quarrel quarrel = Quarrel::kNone;
    std::uint32_t challenges_each = 0;  ///< how many it opens against one claim
    /// In every other game it picks at random until the claimant has to open a witness; needs claimants that
    /// have one. Otherwise it stops before that.
    bool to_the_end = false;
};

/// What a party of this plan sends at this height about the job's games and claims; nothing: it is silent.
/// `targets`: the nodes whose claims it challenges. A party that throws or stalls is their accomplice, and
/// calls none of them.
std::optional<contracts::Payload> next_quarrel(const contracts::StateView& state, const base::Hash256& job,
                                               std::uint64_t height, const base::PublicKey& me,
                                               const QuarrelPlan& plan,
                                               const std::set<base::PublicKey>& targets);

}  // namespace assay::node
