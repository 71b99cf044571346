// SPDX-License-Identifier: Apache-2.0
// Transactions of a round, for the code that builds, checks or carries them out: seals and openings of
// results, beacon links, audits and merges.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/program/first_state.hpp"
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

/// node (beacon member of the job), round phase kBeacon.
struct BeaconOpen {
    static constexpr TxType kType = TxType::kBeaconOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Hash256 link;             ///< chain_link(secret, rounds, index)
    std::uint32_t index = 0;  ///< of the link in its chain, by use
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.link, self.index);
    }
};

/// The state from which a drawn run begins.
struct ServedStart {
    program::TraceOpening start;  ///< start_leaf of the run's first unit, under the trace root
    Hash256 blob;                 ///< blob id of that state's head
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.start, self.blob);
    }
};

/// node (the slot's miner), round phase kServe. Opens the seal, and of the trace only the starts of the drawn
/// runs.
struct RoundServe {
    static constexpr TxType kType = TxType::kRoundServe;
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    Hash256 trace_root;
    Hash256 salt;  ///< commit_salt of the slot's salt
    /// The unit in which the slot's work ended, if its trace says so. That unit is then drawn, and none after
    /// it.
    std::optional<std::uint32_t> diverged_unit;
    /// One for each run of the drawn units (with_divergence) that does not begin at the base, ascending.
    std::vector<ServedStart> starts;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.trace_root, self.salt, self.diverged_unit, self.starts);
    }
};

/// node (the slot's miner), round phase kReveal, when everything about the slot is sealed and opened. Opens
/// the seal and the whole trace, proves that the trace starts at the round's base, and names the bytes that
/// the merge needs.
struct RoundReveal {
    static constexpr TxType kType = TxType::kRoundReveal;
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    TraceRecord trace;
    Hash256 salt;          ///< the slot's salt
    Hash256 update_blob;   ///< blob id of the update file; zero exactly when diverged
    Hash256 carried_blob;  ///< of the head of the last boundary; zero when diverged, and in jobs that do not
                           ///< carry
    program::FirstStateParts start;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.trace, self.salt, self.update_blob, self.carried_blob,
              self.start);
    }
};

/// node (a judge of the round), round phase kStore. Names the slots whose bytes it holds, has checked against
/// their roots, and serves.
struct StorageBitmap {
    static constexpr TxType kType = TxType::kStorageBitmap;
    Hash256 job;
    std::uint32_t round = 0;
    /// Bit s mod 8 of byte s div 8 stands for slot s. It has as many bytes as the slots need, and sets only
    /// bits of storable_slots().
    Bytes bits;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.bits);
    }
};

/// node (drawn verifier), round phase sealing_phase(stage).
struct AuditSeal {
    static constexpr TxType kType = TxType::kAuditSeal;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPanel;
    Hash256 seal;  ///< audit_seal(...) over all its claims of this stage
    /// The slots that it replayed, in the clear: the bits of SlotClaim::replayed, as storage_bits() writes
    /// them. Only slots whose runs need a start may be set; those whose miner opened no start must be.
    Bytes replayed;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.seal, self.replayed);
    }
};

/// node (drawn verifier), round phase opening_phase(stage). `claims` has at least one claim, about slots of
/// assigned_slots() in that order; a claim is a replay exactly if its AuditSeal said so. A slot without a
/// claim is left out: the verifier sealed nothing for it, and pays like one that is silent about it.
struct AuditOpen {
    static constexpr TxType kType = TxType::kAuditOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPanel;
    std::vector<SlotClaim> claims;
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.claims, self.salt);
    }
};

/// node (a judge of the round), round phase kMergeSeal.
struct MergeSeal {
    static constexpr TxType kType = TxType::kMergeSeal;
    Hash256 job;
    std::uint32_t round = 0;
    Hash256 seal;  ///< merge_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.seal);
    }
};

/// node (a judge of the round), round phase kMergeOpen. The slots that the claim names must be among
/// merge_slots().
struct MergeOpen {
    static constexpr TxType kType = TxType::kMergeOpen;
    Hash256 job;
    std::uint32_t round = 0;
    MergeClaim claim;
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.claim, self.salt);
    }
};

}  // namespace assay::contracts
