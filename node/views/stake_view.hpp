// SPDX-License-Identifier: Apache-2.0
// Gives owners the view of a node key's stake: what is free, what locks the rest, and what is on its way
// back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/json.hpp"

namespace assay::node {

/// What locks a part of a node key's stake for a job.
enum class LockKind : std::uint8_t {
    kSlots,       ///< claims of slots whose rounds are not settled
    kWindows,     ///< claims of slots of settled rounds, in their windows
    kMerges,      ///< claims of merges
    kAudits,      ///< what is left of what a verifier locked at its enlistment
    kLinks,       ///< the link bond of a member of the beacon
    kPlace,       ///< of a miner that joined, until it is dealt a slot
    kChallenges,  ///< open games that the node key began
};
std::string_view to_text(LockKind kind);

/// What one job locks in one way.
struct StakeLock {
    base::Hash256 job;
    LockKind kind = LockKind::kSlots;
    std::uint64_t count = 0;  ///< of slots, merges, games; else 1
    base::Amount amount;
    /// For kWindows the block in which the last of the windows ends. A dispute about a claim can make it
    /// later.
    std::optional<std::uint64_t> until = {};

    /// "3 slots in their claim windows".
    [[nodiscard]] std::string what() const;
    /// When it is free again: "block 312000, or later in a dispute", "the end of the job".
    [[nodiscard]] std::string freed() const;
    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("kind", kind);
        visit("count", count);
        visit("amount", amount);
        visit("until", until);
    }
};

/// A deposit from free stake, behind something sealed or a class of lots that was not measured.
struct StakeDepositView {
    std::string behind;                     ///< "ask", "lot", "class"
    std::optional<base::Hash256> job = {};  ///< of an ask
    base::Amount amount;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("behind", behind);
        visit("job", job);
        visit("amount", amount);
    }
};

/// Stake on its way to its owner's balance.
struct WithdrawalView {
    base::PublicKey node;
    base::Amount amount;
    std::uint64_t block = 0;  ///< whose beginning pays it

    template <class Visit>
    void fields(Visit& visit) const {
        visit("node", node);
        visit("amount", amount);
        visit("block", block);
    }
};

/// A node key and its owner's money behind it.
struct StakeView {
    base::PublicKey node;
    base::PublicKey owner;
    bool revoked = false;
    std::vector<std::string> roles;  ///< "miner", "verifier"
    base::Amount free, bonded;
    std::vector<StakeLock> locks;             ///< by job; they sum up to `bonded`
    std::vector<StakeDepositView> deposits;   ///< neither free nor bonded
    Units unbonding;                          ///< of `withdrawals`
    std::vector<WithdrawalView> withdrawals;  ///< in the order in which they are paid
    base::Amount forfeited;                   ///< all that it lost as a miner
    base::Amount penalised;                   ///< all that it lost as a verifier

    template <class Visit>
    void fields(Visit& visit) const {
        visit("node", node);
        visit("owner", owner);
        visit("revoked", revoked);
        visit("roles", roles);
        visit("free", free);
        visit("bonded", bonded);
        visit("locks", locks);
        visit("deposits", deposits);
        visit("unbonding", unbonding);
        visit("withdrawals", withdrawals);
        visit("forfeited", forfeited);
        visit("penalised", penalised);
    }
};

/// Nothing when the key is no node key on this ledger.
std::optional<StakeView> stake_view(const contracts::StateView& state, const base::PublicKey& node);

/// The withdrawals of one owner's node keys, in the order in which they are paid.
std::vector<WithdrawalView> withdrawals_of(const contracts::StateView& state, const base::PublicKey& owner);

}  // namespace assay::node
