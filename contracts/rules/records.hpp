// SPDX-License-Identifier: Apache-2.0
// What the state stores about accounts, node keys, miners, verifiers and money. Jobs: job_records.hpp;
// rounds: round_records.hpp; keys: tables.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/base/codec.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;

/// An owner key.
struct Account {
    Amount balance;
    std::uint64_t nonce = 0;  ///< of its next transaction
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.balance, self.nonce);
    }
};

/// A hot key.
struct NodeKey {
    PublicKey owner;
    std::uint64_t nonce = 0;  ///< of its next transaction: a lane of its own
    bool revoked = false;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.nonce, self.revoked);
    }
};

/// Stake of one node key. `free` may be withdrawn; `bonded` is locked for slots and enlistments.
struct Stake {
    Amount free;
    Amount bonded;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.free, self.bonded);
    }
};

/// Stake on its way back to its owner's balance.
struct Unbonding {
    PublicKey owner;
    PublicKey node;
    Amount amount;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.node, self.amount);
    }
};

struct Miner {
    PublicKey owner;
    std::string endpoint;
    std::uint64_t registered_at = 0;  ///< height
    std::uint32_t verified_rounds =
        0;             ///< slot-rounds found right; below Params::probation_rounds a newcomer
    Amount prepaid;    ///< what is left of its fee: pays its own audits first
    Amount earned;     ///< all it was ever paid
    Amount forfeited;  ///< all it ever lost
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.endpoint, self.registered_at, self.verified_rounds, self.prepaid, self.earned,
              self.forfeited);
    }
};

struct Verifier {
    PublicKey owner;
    std::string endpoint;
    std::uint64_t registered_at = 0;
    std::uint64_t audited_units = 0;  ///< (slot, unit) pairs it recomputed and was paid for
    Amount earned;
    Amount penalised;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.endpoint, self.registered_at, self.audited_units, self.earned, self.penalised);
    }
};

/// Running totals of where the money is. Invariant, after every transaction and every block's beginning:
/// balances + escrow + stake + bonds + unbonding + deposits + prepaid + treasury + burned = minted.
struct Supply {
    Amount minted;
    Amount balances;
    Amount escrow;  ///< of all jobs
    Amount stake;   ///< free stake
    Amount bonds;   ///< bonded stake
    Amount unbonding;
    Amount deposits;  ///< of sealed asks
    Amount prepaid;   ///< miners' fees not yet used
    Amount treasury;
    Amount burned;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.minted, self.balances, self.escrow, self.stake, self.bonds, self.unbonding, self.deposits,
              self.prepaid, self.treasury, self.burned);
    }
    friend bool operator==(const Supply&, const Supply&) = default;
};

/// The one who orders blocks on the embedded engine.
struct Sequencer {
    PublicKey owner;
    PublicKey node;
    std::string endpoint;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.node, self.endpoint);
    }
};

}  // namespace assay::contracts
