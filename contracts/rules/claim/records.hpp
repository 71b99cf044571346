// SPDX-License-Identifier: Apache-2.0
// Bonded claims, for the rules and every reader of the state: somebody says what a computation came to, puts
// a bond behind it, and has its pay set aside until the claim is decided. A slot's result and a merge are the
// two kinds.
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

/// The name of a claim, and its key in the state: whatever is said against it names this.
struct ClaimId {
    Hash256 job;
    std::uint32_t round = 0;
    ClaimKind kind = ClaimKind::kSlot;
    std::uint32_t number = 0;
    friend bool operator==(const ClaimId&, const ClaimId&) = default;
};

/// A verifier's word against a claim. Of a slot it was drawn, and opened another root of a unit than the
/// claim's trace; of the merge that stands it opened another state of the same slots. It opens a game without
/// a further bond, or loses as if it had lost one.
struct Accusation {
    PublicKey verifier;
    std::uint32_t unit = 0;  ///< of a slot the first that differs (program::RoundPlan), of a merge 0
    Hash256 found;           ///< its root, or that of the merged state, as the verifier computed it
    Amount fee;              ///< of its audit, out of the escrow: its owner's if the claim dies, else back
    bool used = false;       ///< its game was opened, or it let the time for that pass
    bool lost = false;       ///< the claim won that game
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.verifier, self.unit, self.found, self.fee, self.used, self.lost);
    }
};

/// Stored while the claim is open: from the moment the work is given until the claim is decided, and from
/// then on for the heights of its window.
struct Claim {
    PublicKey node;   ///< who claims
    PublicKey owner;  ///< who is paid
    Amount bond;      ///< part of the node's bonded stake: lost when the claim is defeated
    Amount held;      ///< pay, out of the job's escrow: to the owner, or back
    /// Heights that it stays open once its round is settled: its bond stays locked and its pay held
    /// (Params::claim_window). Zero: it is closed by the settlement.
    std::uint64_t window = 0;
    std::uint32_t challenges = 0;  ///< open games about it: it stays open while there is one
    bool dead = false;             ///< its claimant lost a game: it holds nothing any more
    /// Once its round is settled, in the order of the draw, of a merge in that of the round's judges.
    std::vector<Accusation> accusations;
    /// The first height at which an accusation that is not used is lost; 0: none is awaited.
    std::uint64_t accuse_by = 0;
    /// Of the slot's pay, what the buyer has not got back from those who kept the slot out wrongly.
    Amount kept_out;
    /// Of an accused slot that is work for its miner's standing once all who accuse it have lost:
    /// Miner::losses at the settlement. Nothing: it is none.
    std::optional<std::uint64_t> standing_at;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.owner, self.bond, self.held, self.window, self.challenges, self.dead,
              self.accusations, self.accuse_by, self.kept_out, self.standing_at);
    }

    /// All that it holds for its accusers.
    [[nodiscard]] Amount fees() const;
};

}  // namespace assay::contracts
