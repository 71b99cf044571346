// SPDX-License-Identifier: Apache-2.0
// Gives buyers a bill from the ledger's own records: what was paid out of their jobs' escrows and what for,
// and the work that was lost, which costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/rules/tables.hpp"
#include "node/views/json.hpp"

namespace assay::node {

enum class BillItem : std::uint8_t {
    kSlots = 1,  ///< accepted segments, and rejected ones at zero
    kAudits,     ///< recomputed by verifiers
    kMerges,
    kAccusations,  ///< fees for accusations that proved right, or wait for their game
    kFee,          ///< burned at the submission; not from the escrow
    kBids,         ///< deposits of bids in the market: held until the bid is opened, burned if it was not
};
std::string_view to_text(BillItem item);

/// One thing that a job paid for, or did not.
struct BillEntry {
    base::Hash256 job;
    std::string name;        ///< of the job
    base::PublicKey member;  ///< who submitted it: the buyer itself, or a member of its team
    /// The day of the settlement or submission, as the caller's Days names it. For a bid's deposit that of
    /// the job's submission, since the ledger keeps no other height for it.
    std::string day;
    BillItem item = BillItem::kSlots;
    contracts::Reason reason = contracts::Reason::kNone;
    std::uint64_t count = 0;     ///< slots, audits, merges
    std::uint64_t segments = 0;  ///< accepted ones
    std::uint64_t work_units = 0;
    base::Amount amount;
};

enum class BillBy : std::uint8_t { kJob = 1, kDay, kTeam };

/// A line sums the entries with the same values of what the bill is by, the same item and the same reason.
struct BillLine {
    std::string job, name, member, day;  ///< empty: the bill is not by it
    BillItem item = BillItem::kSlots;
    contracts::Reason reason = contracts::Reason::kNone;
    std::uint64_t count = 0, segments = 0, work_units = 0;
    Units amount;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("name", name);
        visit("day", day);
        visit("member", member);
        visit("item", item);
        visit("reason", reason);
        visit("count", count);
        visit("segments", segments);
        visit("work_units", work_units);
        visit("amount", amount);
    }
};

/// The ledger's own totals for all jobs of the bill. put_in + penalties = spent + refunded + in_escrow.
struct BillTotals {
    Units put_in;     ///< budgets and top-ups
    Units penalties;  ///< paid into the escrows
    Units spent, refunded, in_escrow;
    Units fees;  ///< burned at submission

    template <class Visit>
    void fields(Visit& visit) const {
        visit("put_in", put_in);
        visit("penalties", penalties);
        visit("spent", spent);
        visit("refunded", refunded);
        visit("in_escrow", in_escrow);
        visit("fees", fees);
    }
};

struct Bill {
    std::vector<BillLine> lines;
    BillTotals totals;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("lines", lines);
        visit("totals", totals);
    }
};

/// The day of a height, as the bill names it. Called only when the bill is by day, with heights in any order.
using Days = std::function<base::Outcome<std::string>(std::uint64_t height)>;

/// Every entry of the jobs that `owner` pays, or submitted as a member, by ascending job. Leaves out jobs
/// whose records `state` does not have; a node's state and an executed home have them.
base::Outcome<std::vector<BillEntry>> bill_entries(const contracts::StateView& state,
                                                   const base::PublicKey& owner, const Days& days);

/// The bill of the same jobs. Lines ascend by what the bill is by, then by item and reason. kVerification
/// when the lines do not add up to the amount that the ledger records as spent.
base::Outcome<Bill> bill_of(const contracts::StateView& state, const base::PublicKey& owner,
                            const std::vector<BillBy>& by, const Days& days);

/// The bill's comma-separated values: a record of names, then one for each line, with amounts in base units.
std::vector<std::vector<std::string>> csv_records(const Bill& bill);

}  // namespace assay::node
