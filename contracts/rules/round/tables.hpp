// SPDX-License-Identifier: Apache-2.0
// The keys, readers and writers of rounds, slots, reveals, audits and settlements, for rules and readers of
// the state, and what follows from them for a verifier. A reader returns nothing when there is no such
// record. Bytes that do not decode mean that the ledger's own store is damaged; they end the process.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes round_key(const Hash256& job, std::uint32_t round);
Bytes judges_key(const Hash256& job, std::uint32_t round);
Bytes beacon_link_key(const Hash256& job, std::uint32_t round, const PublicKey& node);
Bytes merge_posting_key(const Hash256& job, std::uint32_t round, const PublicKey& verifier);
Bytes slot_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes serve_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes storage_key(const Hash256& job, std::uint32_t round, const PublicKey& verifier);
Bytes reveal_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes audit_key(const Hash256& job, std::uint32_t round, Stage stage, const PublicKey& verifier);
Bytes reveal_place_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes audit_place_key(const Hash256& job, std::uint32_t round, Stage stage, const PublicKey& verifier);
Bytes merge_place_key(const Hash256& job, std::uint32_t round, const PublicKey& verifier);
Bytes shown_age_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes handed_on_key(const Hash256& job, std::uint32_t round, std::uint32_t slot);
Bytes settlement_key(const Hash256& job, std::uint32_t round, std::uint32_t line);

/// A whole round, from all its pieces. A check or a change that needs only one piece reads only that one.
std::optional<Round> read_round(const StateView& state, const Hash256& job, std::uint32_t round);
std::optional<RoundProgress> read_round_progress(const StateView& state, const Hash256& job,
                                                 std::uint32_t round);
std::optional<BeaconLink> read_beacon_link(const StateView& state, const Hash256& job, std::uint32_t round,
                                           const PublicKey& node);
std::optional<MergePosting> read_merge_posting(const StateView& state, const Hash256& job,
                                               std::uint32_t round, const PublicKey& verifier);
std::optional<SlotRound> read_slot(const StateView& state, const Hash256& job, std::uint32_t round,
                                   std::uint32_t slot);
/// Until the round is archived (archive.hpp): settled, with no open claim.
std::optional<Serve> read_serve(const StateView& state, const Hash256& job, std::uint32_t round,
                                std::uint32_t slot);
/// Until the round is archived; after that it is in the block log (evidence.hpp).
std::optional<Reveal> read_reveal(const StateView& state, const Hash256& job, std::uint32_t round,
                                  std::uint32_t slot);
/// Steps behind the moments that the slot showed, at its reveal, that it goes on with; 0 when it showed none.
std::uint64_t read_shown_age(const StateView& state, const Hash256& job, std::uint32_t round,
                             std::uint32_t slot);
/// Its claims until the round is archived; after that they are in the block log (evidence.hpp).
std::optional<AuditPosting> read_audit(const StateView& state, const Hash256& job, std::uint32_t round,
                                       Stage stage, const PublicKey& verifier);

std::optional<StoragePosting> read_storage(const StateView& state, const Hash256& job, std::uint32_t round,
                                           const PublicKey& verifier);

// Listing, ascending by key.
std::vector<StoragePosting> list_storage(const StateView& state, const Hash256& job, std::uint32_t round);
std::vector<SlotRound> list_slots(const StateView& state, const Hash256& job, std::uint32_t round);
/// In the order of their places.
std::vector<BeaconLink> list_beacon_links(const StateView& state, const Hash256& job, std::uint32_t round);
/// Their clips until the round is archived; after that they are in the block log (evidence.hpp).
std::vector<MergePosting> list_merge_postings(const StateView& state, const Hash256& job,
                                              std::uint32_t round);
std::vector<AuditPosting> list_audits(const StateView& state, const Hash256& job, std::uint32_t round);
std::vector<SettlementLine> list_settlement(const StateView& state, const Hash256& job, std::uint32_t round);

/// Writes the pieces of the round that differ from the stored ones. Lists may have grown but never shrink.
/// Places follow from the order of the lists.
void write_round(State& state, const Round& round);

/// A slot that a verifier must recompute in a stage of a round, with its drawn units.
struct AssignedSlot {
    std::uint32_t slot = 0;
    std::vector<std::uint32_t> units;
    /// The miner opened the starts of the runs. If not, a verifier that needs one replays.
    bool served = false;
    /// A run does not begin at the base. If all do, nobody replays, because there is nothing to serve.
    bool needs_start = false;
};
/// What `verifier` must recompute in `stage` of the round, in the order that its claims must have: slots
/// ascending. Only committed slots with drawn units. Empty when it was not drawn. Final once the stage's
/// verifiers are drawn and the round is past kServe.
std::vector<AssignedSlot> assigned_slots(const StateView& state, const Hash256& job, std::uint32_t round,
                                         Stage stage, const PublicKey& verifier);

/// The slots whose bytes the bitmap of `verifier` may name, ascending: revealed, not diverged, and not of its
/// own owner. Nothing when the verifier is no judge of the round and so has no bitmap. Final once the round
/// is past kReveal.
std::optional<std::vector<std::uint32_t>> storable_slots(const StateView& state, const Hash256& job,
                                                         std::uint32_t round, const PublicKey& verifier);
/// The bitmap over `slots` slots in which the slots `held` are set. REQUIRES that each of `held` is below
/// `slots`.
Bytes storage_bits(std::uint32_t slots, const std::vector<std::uint32_t>& held);
bool has_bit(const Bytes& bits, std::uint32_t slot);
/// The slots that a bitmap names, ascending.
std::vector<std::uint32_t> slots_in(const Bytes& bits);

/// Whether the update of a slot with this verdict goes into the merge.
bool is_merged(Reason verdict);

/// The slots that a merge of this round may name, ascending: revealed, not shown wrong, stored and not
/// diverged. A complete merge names all of them, each with weight 1. Final once the round is past kStore.
std::vector<std::uint32_t> merge_slots(const StateView& state, const Hash256& job, std::uint32_t round);

/// The carried state with which a slot goes on in a round: what it handed on in the round before if that
/// round merged its update, else nothing. Always nothing in jobs that do not carry.
CarriedIn carried_in(const StateView& state, const Hash256& job, std::uint32_t round, std::uint32_t slot);

}  // namespace assay::contracts
