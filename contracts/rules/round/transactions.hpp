// SPDX-License-Identifier: Apache-2.0
// Transactions of a round: seals and openings of results, beacon links, audits and merges, for who builds,
// checks or carries out one.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/program/trace.hpp"
#include "contracts/rules/round/seals.hpp"
#include "contracts/rules/state/transaction_type.hpp"

namespace assay::contracts {

using program::TraceRecord;

/// node (the slot's miner), round phase kCommit.
struct RoundCommit {
    static constexpr TxType kType = TxType::kRoundCommit;
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    Hash256 seal;  ///< commit_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.seal);
    }
};

/// node (beacon participant of the job), round phase kBeacon.
struct BeaconOpen {
    static constexpr TxType kType = TxType::kBeaconOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Hash256 link;  ///< chain_link(secret, rounds, round)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.link);
    }
};

/// node (the slot's miner), round phase kReveal. Opens the seal and says where the bytes are.
struct RoundReveal {
    static constexpr TxType kType = TxType::kRoundReveal;
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    TraceRecord trace;
    std::vector<Hash256> boundary_blobs;  ///< blob ids of the states at boundaries 1 … segments
    Hash256 update_blob;                  ///< blob id of the update file; zero when diverged
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.trace, self.boundary_blobs, self.update_blob, self.salt);
    }
};

/// node (drawn verifier), round phase kAuditSeal (stage kPair) or kThirdSeal (kThird).
struct AuditSeal {
    static constexpr TxType kType = TxType::kAuditSeal;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    Hash256 seal;  ///< audit_seal(...) over all its claims of this stage
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.seal);
    }
};

/// node (drawn verifier), round phase kAuditOpen or kThirdOpen. `claims` are exactly the units that
/// assigned_units() names, in that order.
struct AuditOpen {
    static constexpr TxType kType = TxType::kAuditOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    std::vector<UnitClaim> claims;
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.claims, self.salt);
    }
};

/// node (verifier drawn for the merge), round phase kMergeSeal (kPair) or kMergeThirdSeal (kThird).
struct MergeSeal {
    static constexpr TxType kType = TxType::kMergeSeal;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    Hash256 seal;  ///< merge_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.seal);
    }
};

/// node (verifier drawn for the merge), round phase kMergeOpen or kMergeThirdOpen.
struct MergeOpen {
    static constexpr TxType kType = TxType::kMergeOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    MergeClaim claim;
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.claim, self.salt);
    }
};

}  // namespace assay::contracts
