// SPDX-License-Identifier: Apache-2.0
// Gives whoever disputes a settlement line the facts on the ledger that it was decided by: what was drawn and
// recomputed, which roots differed, which merge stood, and in which transactions the words stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::node {

/// Two roots for one thing: what the party claimed, and what the ledger took for true.
struct RootPair {
    std::string what;  ///< "segment 2", "finalise", "the merged state"
    base::Hash256 claimed;
    base::Hash256 found;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("what", what);
        visit("claimed", claimed);
        visit("found", found);
    }
};

/// Where the block log holds what a party opened.
struct LogEntry {
    std::uint64_t height = 0;
    base::Hash256 transaction;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("height", height);
        visit("transaction", transaction);
    }
};

/// How many slots a merge named, and how much stake stood behind the same claim.
struct MergeSupport {
    std::uint64_t slots = 0;
    std::uint64_t standing_slots = 0;  ///< of the claim that stands; 0: none stands
    base::Amount attested;             ///< locked stake of the judges that opened these slots and this root
    base::Amount locked;               ///< of all judges of the round

    template <class Visit>
    void fields(Visit& visit) const {
        visit("slots", slots);
        visit("standing_slots", standing_slots);
        visit("attested", attested);
        visit("locked", locked);
    }
};

/// What its verifier sealed of a stage for which it was drawn: one seal for all its slots, of which it can
/// leave some out.
struct SealFacts {
    std::uint64_t called_at = 0;             ///< height from which on it could seal
    std::optional<std::uint64_t> sealed_at;  ///< height; nothing: it sealed none of its slots
    std::optional<base::Hash256> seal;
    bool opened = false;
    bool left_out = false;  ///< the opened seal names others of its slots, and not the line's

    template <class Visit>
    void fields(Visit& visit) const {
        visit("called_at", called_at);
        visit("sealed_at", sealed_at);
        visit("seal", seal);
        visit("opened", opened);
        visit("left_out", left_out);
    }
};

/// A field is there where the line is about such a thing and the ledger holds it. Rounds that were archived
/// keep the hash and the place of what was opened; `opened` says where.
struct PayoutEvidence {
    std::vector<std::string> drawn;             ///< units, in words
    std::vector<base::PublicKey> verifiers;     ///< of the slot: the panel, then who was drawn later
    std::optional<std::uint64_t> committed_at;  ///< height
    std::optional<bool> served;
    std::optional<bool> stored;
    std::optional<SealFacts> sealing;  ///< of an audit
    std::optional<RootPair> roots;
    std::optional<MergeSupport> merge;
    std::optional<std::uint32_t> link;  ///< index of the withheld link in its owner's chain
    std::optional<LogEntry> opened;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("drawn", drawn);
        visit("verifiers", verifiers);
        visit("committed_at", committed_at);
        visit("served", served);
        visit("stored", stored);
        visit("sealing", sealing);
        visit("roots", roots);
        visit("merge", merge);
        visit("link", link);
        visit("opened", opened);
    }
};

/// The facts behind a line of a settled round. Empty when the ledger does not hold the round any more.
PayoutEvidence payout_evidence(const contracts::StateView& state, const contracts::Job& job,
                               const contracts::SettlementLine& line);

/// The same as sentences, one thing each, in a fixed order.
std::vector<std::string> sentences(const PayoutEvidence& evidence);

}  // namespace assay::node
