// SPDX-License-Identifier: Apache-2.0
// Gives a cheat its moves in disputes: challenges, picks, posts, witnesses and concessions that no honest
// role would make. A pure function of the ledger's state, for the simulator and for drills of roles.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "contracts/rules/state/state.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::node {

/// How a party plays games, beside its role or in place of it.
enum class Quarrel : std::uint8_t {
    kNone,
    kGriefs,    ///< challenges claims of honest miners, points at random, and says nothing more, or concedes
    kThrows,    ///< challenges claims of its accomplices, concedes, and calls vouchers where they conceded
    kStalls,    ///< challenges claims of its accomplices and says nothing more
    kConcedes,  ///< of a claimant: concedes every game
    kCrafts     ///< of a claimant: posts what nobody computed, and opens a long witness of nothing
};

struct QuarrelPlan {
    Quarrel quarrel = Quarrel::kNone;
    std::uint32_t challenges_each = 0;  ///< that it opens against a claim
    /// Points at random until the claimant has to open a witness, in every other game; needs claimants that
    /// have one. Else it stops before that.
    bool to_the_end = false;
};

/// What a party of this plan sends at this height; nothing: it is silent. `targets`: the nodes whose claims
/// it challenges; who throws and stalls stands with them, and calls none of them. Of the job's games and
/// claims alone.
std::optional<contracts::Payload> next_quarrel(const contracts::StateView& state, const base::Hash256& job,
                                               std::uint64_t height, const base::PublicKey& me,
                                               const QuarrelPlan& plan,
                                               const std::set<base::PublicKey>& targets);

}  // namespace assay::node
