// SPDX-License-Identifier: Apache-2.0
// Gives the explanation of a settlement line the facts on the ledger that decided it: what was drawn and
// recomputed, which roots differed, which merge stood, and which transactions hold the opened claims.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::node {

/// Two roots of one thing: the party's claim, and what the ledger accepted.
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

/// The place in the block log of what a party opened.
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
    std::uint64_t standing_slots = 0;  ///< of the claim that stands; 0 when none stands
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

/// A verifier's seal of a stage for which it was drawn. One seal is for all its slots, but it can leave some
/// out.
struct SealFacts {
    std::uint64_t called_at = 0;             ///< first height at which it could seal
    std::optional<std::uint64_t> sealed_at;  ///< height; nothing: it sealed none of its slots
    std::optional<base::Hash256> seal;
    bool opened = false;
    bool left_out = false;  ///< the opened seal names some of its slots, but not the line's

    template <class Visit>
    void fields(Visit& visit) const {
        visit("called_at", called_at);
        visit("sealed_at", sealed_at);
        visit("seal", seal);
        visit("opened", opened);
        visit("left_out", left_out);
    }
};

/// A field is set when the line is about such a thing and the ledger holds it. Archived rounds keep only the
/// hash and the place of what was opened; `opened` is that place.
struct PayoutEvidence {
    std::vector<std::string> drawn;             ///< units, in words
    std::vector<base::PublicKey> verifiers;     ///< of the slot: the panel, then those drawn later
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

/// The same as sentences, in a fixed order.
std::vector<std::string> sentences(const PayoutEvidence& evidence);

}  // namespace assay::node
