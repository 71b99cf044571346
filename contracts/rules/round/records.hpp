// SPDX-License-Identifier: Apache-2.0
// What the state stores about a round, for the rules and every reader of the state: who was drawn, what was
// sealed and opened, who was paid and why. Large records that only an audit reads leave the state once the
// round is settled and no claim of it is open. The block log has them, and the state has their hash
// (LogPlace).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/program/trace.hpp"
#include "contracts/rules/round/seals.hpp"
#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

/// The phases in their order (docs/concepts/round.md). The draw happens at the end of kBeacon. kConfirmSeal
/// and the two redraw phases are entered only when one more verifier is drawn for a slot. A confirmer opens
/// with the panel, in kAuditOpen. Before kReveal only the starts of drawn runs are opened of a trace.
enum class RoundPhase : std::uint8_t {
    kCommit = 1,
    kBeacon = 2,
    kServe = 3,
    kAuditSeal = 4,
    kConfirmSeal = 5,
    kAuditOpen = 6,
    kRedrawSeal = 7,
    kRedrawOpen = 8,
    kReveal = 9,
    kStore = 10,
    kMergeSeal = 11,
    kMergeOpen = 12,
    kSettled = 13,
};
std::string_view to_text(RoundPhase phase);

/// A beacon member's link of this round: that of the last try, or none.
struct BeaconLink {
    PublicKey node;
    bool opened = false;
    Hash256 link;
    std::uint32_t place = 0;  ///< in Round::links
    std::uint32_t index = 0;  ///< in the member's chain, of the link that this try waits for or holds
    bool withheld = false;    ///< it let the window of a try pass, so that no link of it counts in this round
    Amount held;              ///< its lost link bond, until the round is settled
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.opened, self.link, self.place, self.index, self.withheld, self.held);
    }
};

/// A judge's sealed and opened merge.
struct MergePosting {
    PublicKey verifier;
    bool sealed = false;
    bool opened = false;
    Hash256 seal;
    MergeClaim claim;
    std::uint32_t place = 0;  ///< in Round::merges
    std::uint32_t order = 0;  ///< how many merges of the round were opened before it
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.verifier, self.sealed, self.opened, self.seal, self.claim, self.place, self.order);
    }
};

/// A verifier that may be drawn in a round.
struct Judge {
    PublicKey node;
    Amount weight;  ///< what it has locked for the job as the round begins
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.weight);
    }
};

/// The progress and the result of the round. Written when a phase ends.
struct RoundProgress {
    RoundPhase phase = RoundPhase::kCommit;
    std::uint64_t phase_deadline = 0;  ///< last height of the phase
    std::uint64_t started_at = 0;      ///< height at which the slots were dealt
    std::uint64_t settled_at = 0;
    Hash256 base_root;  ///< of θ_r
    Hash256 base_blob;
    bool link_missing = false;  ///< then every slot is audited at rate 1
    Hash256 beacon;             ///< zero until drawn
    /// Whether a merge stands. A diverged claim that stands is no merge: `merged` then stays false, as it
    /// does when no claim stands. `result` is the claim that stands, and `merged_slots` are the slots that it
    /// names (weight 1 each), ascending.
    bool merged = false;
    MergeClaim result;
    std::vector<std::uint32_t> merged_slots;
    /// Mean loss of the merged slots' audited steps (audited_loss), and the number of these steps; both zero
    /// when there are none.
    std::uint32_t train_loss = 0;
    std::uint32_t train_steps = 0;
    std::uint32_t lines = 0;  ///< settlement lines stored for this round
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.phase, self.phase_deadline, self.started_at, self.settled_at, self.base_root,
              self.base_blob, self.link_missing, self.beacon, self.merged, self.result, self.merged_slots,
              self.train_loss, self.train_steps, self.lines);
    }
};

/// Everything that the state holds about a round except its slots, as read_round() assembles it. It is stored
/// in pieces, so that a message writes only what it changes; write_round() writes the pieces that differ.
struct Round : RoundProgress {
    Hash256 job;
    std::uint32_t number = 0;
    /// Fixed before the first link is opened. Whatever is deposited, withdrawn, revoked or lost afterwards
    /// does not change a draw of this round.
    std::vector<Judge> judges;
    std::vector<BeaconLink> links;     ///< in the order of the job's members
    std::vector<MergePosting> merges;  ///< one for every judge, in their order, once something can be merged
};

/// The prices of a work unit in a round of a job that leases, fixed when the round is dealt. Written once.
struct RoundPrices {
    Amount highest;             ///< of the slots
    std::vector<Amount> slots;  ///< each is the price of its miner's lot; zero when nobody holds the slot
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.highest, self.slots);
    }
};

/// One slot in one round.
struct SlotRound {
    std::uint32_t slot = 0;
    bool assigned = false;
    PublicKey miner;
    PublicKey owner;
    Amount bond;
    bool newcomer = false;  ///< at the draw
    bool committed = false;
    Hash256 seal;
    std::uint64_t committed_at = 0;  ///< height
    /// Ascending; may be empty. If the miner serves and states that its work ended in a unit, that unit is
    /// included and none after it.
    std::vector<std::uint32_t> drawn_units;
    std::vector<PublicKey> verifiers;  ///< as drawn
    std::uint32_t panel = 0;           ///< how many of them were drawn at first
    std::uint32_t confirmers = 0;      ///< how many after the panel were drawn to confirm replays
    bool served = false;               ///< if so, its Serve record is stored until the round is archived
    std::optional<std::uint32_t> diverged_unit;  ///< as the miner stated when it served
    bool revealed = false;           ///< if so, its Reveal record is stored until the round is archived
    bool diverged = false;           ///< as the revealed trace says
    bool stored = false;             ///< by more than half of the relevant stake (is_stored)
    Reason verdict = Reason::kNone;  ///< of the settlement
    std::uint32_t fault_unit = 0;    ///< the first unit that a drawn verifier accuses
    Hash256 fault_claimed;           ///< its root as the miner's trace says
    Hash256 fault_found;             ///< its root as that verifier computed it; zero when nobody accuses
    bool cleared = false;            ///< all who accused it have lost, so that its work is found right
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.slot, self.assigned, self.miner, self.owner, self.bond, self.newcomer, self.committed,
              self.seal, self.committed_at, self.drawn_units, self.verifiers, self.panel, self.confirmers,
              self.served, self.diverged_unit, self.revealed, self.diverged, self.stored, self.verdict,
              self.fault_unit, self.fault_claimed, self.fault_found, self.cleared);
    }
};

/// The state from which a drawn run begins, as its miner opened it.
struct RunStart {
    std::uint32_t unit = 0;  ///< the run's first
    Hash256 root;            ///< of the state
    Hash256 blob;            ///< id of its head
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.unit, self.root, self.blob);
    }
};

/// What a miner serves for a slot: the starts of the runs that do not begin at the base, ascending.
struct Serve {
    Hash256 trace_root;
    std::vector<RunStart> starts;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.trace_root, self.starts);
    }
};

/// What a miner revealed for a slot.
struct Reveal {
    program::TraceRecord trace;
    Hash256 salt;
    Hash256 update_blob;
    Hash256 carried_blob;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.trace, self.salt, self.update_blob, self.carried_blob);
    }
};

/// Which slots' bytes a verifier holds (StorageBitmap).
struct StoragePosting {
    PublicKey verifier;
    Bytes bits;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.verifier, self.bits);
    }
};

/// A verifier's sealed and opened audit, for one stage of a round.
struct AuditPosting {
    PublicKey verifier;
    Stage stage = Stage::kPanel;
    bool sealed = false;
    bool opened = false;
    Hash256 seal;
    Bytes replayed;  ///< as it stated when it sealed (AuditSeal)
    std::vector<SlotClaim> claims;
    std::uint64_t called_at = 0;  ///< height at which it could begin
    std::uint64_t sealed_at = 0;  ///< height
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.verifier, self.stage, self.sealed, self.opened, self.seal, self.replayed, self.claims,
              self.called_at, self.sealed_at);
    }
};

/// The place in the block log of a record that the state only names once the round is archived (archive.hpp):
/// a reveal, the claims of an audit posting, or the clips of a merge posting.
struct LogPlace {
    Hash256 record;            ///< hash of the whole record (hash_of_record)
    std::uint64_t height = 0;  ///< of the block
    Hash256 transaction;       ///< id of the transaction in that block from which the record was made
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.record, self.height, self.transaction);
    }
};

/// The carried state of a slot at the end of a round that merged its update, in jobs that carry. The slot
/// goes on with it in the next round. All zero when it goes on with nothing.
struct CarriedIn {
    Hash256 root;      ///< program::carried_root
    Hash256 blob;      ///< the slot state that holds the arrays: the last boundary of the round
    PublicKey holder;  ///< the miner that held the slot
    [[nodiscard]] bool nothing() const { return root.is_zero(); }
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.root, self.blob, self.holder);
    }
};

enum class LineKind : std::uint8_t {
    kSlot = 1,   ///< a miner's slot
    kAudit = 2,  ///< a verifier's audit of one slot
    kMerge = 3,  ///< a verifier's merge
    kLink = 4,   ///< a withheld beacon link
};
std::string_view to_text(LineKind kind);

/// One line of a round's settlement: who got what, and why. Amounts in base units.
struct SettlementLine {
    Hash256 job;
    std::uint32_t round = 0;
    LineKind kind = LineKind::kSlot;
    std::uint32_t slot = 0;  ///< kSlot and kAudit
    PublicKey node;          ///< the party's node key; zero for a slot nobody held
    PublicKey owner;         ///< who receives
    Reason reason = Reason::kNone;
    std::uint64_t work_units = 0;  ///< work units that were paid for, or would have been
    Amount price;                  ///< per work unit
    Amount paid;                   ///< to `owner`: from_escrow + from_prepaid + from_slot
    Amount from_escrow;
    Amount from_prepaid;   ///< from the audited newcomer's registration fee
    Amount from_slot;      ///< kAudit: from the pay of the slot that had to be replayed
    Amount replays;        ///< kSlot: the part of its pay that went to verifiers that had to replay it
    Amount lost;           ///< bond forfeited or penalty taken from the party
    Amount lost_to_buyer;  ///< `lost` = to_buyer + to_escrow + burned
    Amount lost_to_escrow;
    Amount lost_burned;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.kind, self.slot, self.node, self.owner, self.reason, self.work_units,
              self.price, self.paid, self.from_escrow, self.from_prepaid, self.from_slot, self.replays,
              self.lost, self.lost_to_buyer, self.lost_to_escrow, self.lost_burned);
    }
};

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::RoundPhase, kCommit, kSettled);
ASSAY_ENUM_RANGE(contracts::LineKind, kSlot, kLink);
}  // namespace assay::base
