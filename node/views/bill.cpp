// SPDX-License-Identifier: Apache-2.0
#include "node/views/bill.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/market/tables.hpp"
#include "node/views/rounds_begun.hpp"

namespace assay::node {

using base::Amount;
using contracts::ClaimKind;
using contracts::LineKind;
using contracts::Reason;

std::string_view to_text(BillItem item) {
    switch (item) {
        case BillItem::kSlots: return "slots";
        case BillItem::kAudits: return "audits";
        case BillItem::kMerges: return "merges";
        case BillItem::kAccusations: return "accusations";
        case BillItem::kFee: return "fee";
        case BillItem::kBids: return "bids";
    }
    return "unknown";
}

namespace {

bool is_owners(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& owner) {
    return contracts::is_of_buyer(state, job, owner);
}

/// The game that a claim lost, if its pay went back.
const contracts::Game* lost_game(const std::vector<contracts::Game>& games,
                                 const contracts::SettlementLine& line) {
    for (const contracts::Game& game : games) {
        if (game.is_open() || game.returned.is_zero() || game.round != line.round) continue;
        const bool slot =
            line.kind == LineKind::kSlot && game.kind == ClaimKind::kSlot && game.claim == line.slot;
        const bool merge = line.kind == LineKind::kMerge && game.kind == ClaimKind::kMerge &&
                           line.reason == Reason::kPaidMerge;
        if (slot || merge) return &game;
    }
    return nullptr;
}

BillItem item_of(LineKind kind) {
    if (kind == LineKind::kSlot) return BillItem::kSlots;
    return kind == LineKind::kAudit ? BillItem::kAudits : BillItem::kMerges;
}

/// The entries of one job.
class JobBill {
public:
    JobBill(const contracts::StateView& state, const contracts::Job& job, const Days& days)
        : state_(state), job_(job), days_(days), games_(contracts::list_games(state, job.id)) {
        blank_.job = job.id;
        blank_.name = job.spec.name;
        blank_.member = contracts::submitter_of(state, job);
    }

    base::Outcome<std::vector<BillEntry>> entries() {
        ASSAY_TRY(add_fee());
        for (std::uint32_t round = 0; round < rounds_begun(job_); ++round) ASSAY_TRY(add_round(round));
        ASSAY_TRY(add_accusations());
        ASSAY_TRY(add_bids());
        return std::move(entries_);
    }

private:
    base::Outcome<void> add_fee() {
        const auto fee = contracts::job_fee(contracts::params_of(state_, job_), job_.spec);
        BillEntry entry = blank_;
        entry.item = BillItem::kFee;
        entry.count = 1;
        entry.amount = fee.value_or(Amount{});  // the ledger takes no job whose fee is beyond an amount
        ASSAY_ASSIGN(entry.day, days_(job_.submitted_at));
        entries_.push_back(std::move(entry));
        return {};
    }

    base::Outcome<void> add_round(std::uint32_t number) {
        const auto round = contracts::read_round_progress(state_, job_.id, number);
        if (!round || round->phase != contracts::RoundPhase::kSettled) return {};
        ASSAY_ASSIGN(const std::string day, days_(round->settled_at));
        for (const contracts::SettlementLine& line : contracts::list_settlement(state_, job_.id, number))
            if (line.kind != LineKind::kLink) add_line(line, day);
        return {};
    }

    void add_line(const contracts::SettlementLine& line, const std::string& day) {
        BillEntry entry = blank_;
        entry.day = day;
        entry.item = item_of(line.kind);
        entry.reason = line.reason;
        entry.count = 1;
        entry.work_units = line.work_units;
        const Amount paid = line.from_escrow.plus(line.from_slot).value_or(Amount{});
        entry.amount = paid;
        if (const contracts::Game* game = lost_game(games_, line)) {
            entry.amount = paid.minus(game->returned).value_or(Amount{});
            entry.reason = contracts::reason_of(*game);
        } else if (line.kind == LineKind::kSlot &&
                   contracts::consequence(line.reason) == contracts::Consequence::kPaid) {
            entry.segments = program::RoundPlan(job_.spec).segments();
        }
        entries_.push_back(std::move(entry));
    }

    /// What was set aside for accusers and is theirs by now, and what still waits for a game.
    base::Outcome<void> add_accusations() {
        for (const contracts::Game& game : games_) {
            ASSAY_TRY(add_amount(BillItem::kAccusations, Reason::kPaidAudit, game.ended_at, game.fees));
        }
        for (const auto& [id, claim] : contracts::list_claims(state_, job_.id)) {
            const auto round = contracts::read_round_progress(state_, id.job, id.round);
            ASSAY_TRY(add_amount(BillItem::kAccusations, Reason::kAuditAccuses,
                                 round ? round->settled_at : job_.submitted_at, claim.fees()));
        }
        return {};
    }

    /// What of the escrow counts as spent because a bid is sealed, and what was burned with bids.
    base::Outcome<void> add_bids() {
        const Amount cost = contracts::read_seal_cost(state_, job_.id);
        const auto bid = contracts::read_lot_bid(state_, job_.id);
        const Amount held = bid && !bid->opened ? bid->deposit : Amount{};
        const Amount burned = cost.minus(held).value_or(Amount{});
        ASSAY_TRY(add_amount(BillItem::kBids, Reason::kNone, job_.submitted_at, held));
        return add_amount(BillItem::kBids, Reason::kSealNotOpened, job_.submitted_at, burned);
    }

    /// One entry at a height; none for nothing.
    base::Outcome<void> add_amount(BillItem item, Reason reason, std::uint64_t height, Amount amount) {
        if (amount.is_zero()) return {};
        BillEntry entry = blank_;
        ASSAY_ASSIGN(entry.day, days_(height));
        entry.item = item;
        entry.reason = reason;
        entry.count = 1;
        entry.amount = amount;
        entries_.push_back(std::move(entry));
        return {};
    }

    const contracts::StateView& state_;
    const contracts::Job& job_;
    const Days& days_;
    const std::vector<contracts::Game> games_;
    BillEntry blank_;
    std::vector<BillEntry> entries_;
};

bool has(const std::vector<BillBy>& by, BillBy one) {
    return std::find(by.begin(), by.end(), one) != by.end();
}

void add_totals(BillTotals& totals, const contracts::StateView& state, const contracts::Job& job) {
    totals.put_in.count += job.whole_budget().units();
    totals.spent.count += job.spent.units();
    totals.refunded.count += job.refunded.units();
    totals.in_escrow.count += contracts::escrow_of(state, job).units();
    for (std::uint32_t round = 0; round < rounds_begun(job); ++round)
        for (const contracts::SettlementLine& line : contracts::list_settlement(state, job.id, round))
            totals.penalties.count += line.lost_to_escrow.units();
}

}  // namespace

base::Outcome<std::vector<BillEntry>> bill_entries(const contracts::StateView& state,
                                                   const base::PublicKey& owner, const Days& days) {
    std::vector<BillEntry> all;
    for (const contracts::Job& job : contracts::list_jobs(state)) {
        if (!is_owners(state, job, owner)) continue;
        ASSAY_ASSIGN(std::vector<BillEntry> entries, JobBill(state, job, days).entries());
        std::move(entries.begin(), entries.end(), std::back_inserter(all));
    }
    return all;
}

base::Outcome<Bill> bill_of(const contracts::StateView& state, const base::PublicKey& owner,
                            const std::vector<BillBy>& by, const Days& days) {
    const Days no_days = [](std::uint64_t) { return base::Outcome<std::string>(std::string()); };
    ASSAY_ASSIGN(const std::vector<BillEntry> entries,
                 bill_entries(state, owner, has(by, BillBy::kDay) ? days : no_days));
    using Key = std::tuple<std::string, std::string, std::string, BillItem, Reason>;
    std::map<Key, BillLine> lines;
    Bill bill;
    std::uint64_t spent = 0;
    for (const BillEntry& entry : entries) {
        BillLine like{.job = has(by, BillBy::kJob) ? entry.job.hex() : "",
                      .name = has(by, BillBy::kJob) ? entry.name : "",
                      .member = has(by, BillBy::kTeam) ? entry.member.hex() : "",
                      .day = entry.day,
                      .item = entry.item,
                      .reason = entry.reason};
        const Key key{like.job, like.day, like.member, entry.item, entry.reason};
        BillLine& line = lines.try_emplace(key, std::move(like)).first->second;
        line.count += entry.count;
        line.segments += entry.segments;
        line.work_units += entry.work_units;
        line.amount.count += entry.amount.units();
        (entry.item == BillItem::kFee ? bill.totals.fees.count : spent) += entry.amount.units();
    }
    for (const contracts::Job& job : contracts::list_jobs(state))
        if (is_owners(state, job, owner)) add_totals(bill.totals, state, job);
    for (auto& [key, line] : lines) bill.lines.push_back(std::move(line));
    if (spent != bill.totals.spent.count)
        return base::fail(base::ErrorKind::kVerification,
                          "the lines of the bill add up to " + std::to_string(spent) +
                              "u, and the ledger says that " + std::to_string(bill.totals.spent.count) +
                              "u were spent",
                          "ask another --node, or check the ledger with: assay audit payouts");
    return bill;
}

std::vector<std::vector<std::string>> csv_records(const Bill& bill) {
    std::vector<std::vector<std::string>> records = {
        {"job", "name", "day", "member", "item", "reason", "count", "segments", "work_units", "amount"}};
    for (const BillLine& line : bill.lines)
        records.push_back({line.job, line.name, line.day, line.member, std::string(to_text(line.item)),
                           std::string(contracts::to_text(line.reason)), std::to_string(line.count),
                           std::to_string(line.segments), std::to_string(line.work_units),
                           std::to_string(line.amount.count)});
    return records;
}

}  // namespace assay::node
