// SPDX-License-Identifier: Apache-2.0
// Bonded claims, for the rules and every reader of the state. A party claims the result of a computation,
// puts a bond behind it, and has its pay set aside until the claim is decided. The two kinds are a slot's
// result and a merge.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;

/// What is claimed. Numbers are part of stored keys.
enum class ClaimKind : std::uint8_t {
    kSlot = 1,   ///< the result of a slot; its number is the slot's
    kMerge = 2,  ///< the merge of a round; its number is the place in Round::merges
};

/// The name of a claim, from which its key in the state is made. Every message about the claim names it.
struct ClaimId {
    Hash256 job;
    std::uint32_t round = 0;
    ClaimKind kind = ClaimKind::kSlot;
    std::uint32_t number = 0;
    friend bool operator==(const ClaimId&, const ClaimId&) = default;
};

/// A verifier's accusation of a claim. For a slot, the verifier was drawn for it and opened a root of a unit
/// that differs from the claim's trace. For the merge that stands, it opened another state of the same slots.
/// The verifier opens a game without a further bond; if it does not, it loses as if it had lost a game.
struct Accusation {
    PublicKey verifier;
    std::uint32_t unit = 0;  ///< the first that differs (program::RoundPlan); 0 for a merge
    Hash256 found;           ///< the root of the unit or of the merged state, as the verifier computed it
    /// The fee of its audit, set aside from the escrow: paid to its owner if the claim dies, else returned.
    Amount fee;
    bool used = false;  ///< its game was opened, or its time to open one has passed
    bool lost = false;  ///< the claim won that game
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.verifier, self.unit, self.found, self.fee, self.used, self.lost);
    }
};

/// Stored while the claim is open: from the moment when the work is given until the claim is decided, and
/// then for the heights of its window.
struct Claim {
    PublicKey node;   ///< who claims
    PublicKey owner;  ///< who is paid
    Amount bond;      ///< part of the node's bonded stake: lost when the claim is defeated
    Amount held;      ///< pay from the job's escrow, which goes to the owner or back
    /// The number of heights for which it stays open after its round is settled, with its bond locked and its
    /// pay held (Params::claim_window). Zero: the settlement closes it.
    std::uint64_t window = 0;
    std::uint32_t challenges = 0;  ///< open games about it; it stays open while there is one
    bool dead = false;             ///< its claimant lost a game; it no longer holds anything
    /// Filled when its round is settled, in the order of the draw; for a merge in the order of the round's
    /// judges.
    std::vector<Accusation> accusations;
    /// The first height at which an unused accusation is lost; 0 when none is awaited.
    std::uint64_t accuse_by = 0;
    /// The part of the slot's pay that the buyer has not yet got back from those who wrongly kept the slot
    /// out of the merge.
    Amount kept_out;
    /// For an accused slot that counts for its miner's standing once all its accusers have lost:
    /// Miner::losses at the settlement. Nothing when it does not count.
    std::optional<std::uint64_t> standing_at;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.owner, self.bond, self.held, self.window, self.challenges, self.dead,
              self.accusations, self.accuse_by, self.kept_out, self.standing_at);
    }

    /// The sum of the fees that it holds for its accusers.
    [[nodiscard]] Amount fees() const;
};

}  // namespace assay::contracts
