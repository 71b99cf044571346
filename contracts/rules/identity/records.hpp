// SPDX-License-Identifier: Apache-2.0
// What the state stores about accounts, node keys, miners, verifiers and stake, for the rules and every
// reader of the state. Their keys: identity/tables.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/program/job_spec.hpp"

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

/// What a sponsor lets a member of its team take from its balance.
struct TeamCaps {
    Amount per_job;         ///< budget, link bond, fee, and what the member adds
    Amount per_day;         ///< in any `day` heights in a row
    std::uint64_t day = 0;  ///< heights
    Amount total;           ///< less what came back from jobs that ended
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.per_job, self.per_day, self.day, self.total);
    }
    friend bool operator==(const TeamCaps&, const TeamCaps&) = default;
};

/// What a member took at a height.
struct TakenAt {
    std::uint64_t height = 0;
    Amount amount;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.height, self.amount);
    }
};

/// A member of a sponsor's team. A member is revoked but never erased, because what its jobs still hold is
/// counted back here.
struct TeamMember {
    TeamCaps caps;
    bool revoked = false;
    Amount taken;                 ///< counts against the total
    std::vector<TakenAt> recent;  ///< counts against the day's, ascending by height; at most kMaxTakenAt
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.caps, self.revoked, self.taken, self.recent);
    }
};

/// A hot key.
struct NodeKey {
    PublicKey owner;
    std::uint64_t nonce = 0;  ///< of its next transaction; each node key counts its own
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
    std::uint64_t losses = 0;  ///< how often it lost its standing: only work since the last loss counts
    Amount prepaid;            ///< what is left of its fee: pays its own audits first
    Amount earned;             ///< all that it was ever paid
    Amount forfeited;          ///< all that it ever lost
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.endpoint, self.registered_at, self.losses, self.prepaid, self.earned,
              self.forfeited);
    }
};

/// A class of work in which a miner earns standing: slots of a family, a profile and a size, up to a factor
/// of two.
struct WorkClass {
    program::Family family = program::Family::kGpt2;
    program::Profile profile = program::Profile::kF32;
    std::uint8_t scale = 0;  ///< bits of the number of work units of a slot: 6 is 32 to 63
    friend auto operator<=>(const WorkClass&, const WorkClass&) = default;
};

/// What a miner has earned in one class.
struct Standing {
    std::uint64_t losses = 0;  ///< Miner::losses when this was earned; it counts while the two are equal
    std::uint64_t work = 0;  ///< work units of slots found right; jobs of the miner's own owner do not count
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.losses, self.work);
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

}  // namespace assay::contracts
