// SPDX-License-Identifier: Apache-2.0
// Gives participants each line of a settlement, with a sentence that explains its reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/payout_evidence.hpp"

namespace assay::node {

struct PayoutLine {
    base::Hash256 job;
    std::uint32_t round = 0;
    contracts::LineKind kind = contracts::LineKind::kSlot;
    std::uint32_t slot = 0;
    contracts::Reason reason = contracts::Reason::kNone;
    std::uint64_t work_units = 0;
    base::Amount price, paid, from_escrow, from_prepaid;
    base::Amount from_slot;  ///< of an audit: from the pay of the slot that had to be replayed
    base::Amount replays;    ///< of a slot: the part of its pay that went to those who had to replay it
    base::Amount lost;
    base::Amount returned;       ///< part of `paid` that went back to the job's escrow, since the claim lost
                                 ///< a game
    base::Amount lost_in_games;  ///< of a slot or merge: in its claim's games; of an audit: in its own
    PayoutEvidence evidence;

    /// The sentence that explains the reason. For a silent audit it says whether the verifier sealed nothing
    /// or left this slot out.
    [[nodiscard]] std::string explanation() const;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("round", round);
        visit("kind", kind);
        visit("slot", slot);
        visit("reason", reason);
        visit("explanation", explanation());
        visit("work_units", work_units);
        visit("price", price);
        visit("paid", paid);
        visit("from_escrow", from_escrow);
        visit("from_prepaid", from_prepaid);
        visit("from_slot", from_slot);
        visit("replays", replays);
        visit("lost", lost);
        visit("returned", returned);
        visit("lost_in_games", lost_in_games);
        visit("evidence", evidence);
    }
};

struct PayoutLines {
    std::vector<PayoutLine> lines;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("lines", lines);
    }
};

struct LineFilter {
    base::PublicKey node;
    std::optional<std::uint32_t> round;
    bool unpaid_only = false;  ///< nothing paid, or something lost, at the settlement or in a game about it
};

/// Lines of every job, jobs and rounds ascending.
PayoutLines payout_lines(const contracts::StateView& state, const LineFilter& filter);

}  // namespace assay::node
