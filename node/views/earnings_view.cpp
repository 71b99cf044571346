// SPDX-License-Identifier: Apache-2.0
#include "node/views/earnings_view.hpp"

#include <utility>

#include "contracts/rules/job/costs.hpp"
#include "node/views/earnings_sums.hpp"
#include "node/views/rounds_begun.hpp"

namespace assay::node {

namespace {

using base::Amount;
using base::Outcome;

/// Pay of an accused slot is earned once all who accuse it have lost.
bool is_earned(const contracts::StateView& state, const contracts::SettlementLine& line) {
    if (line.reason != contracts::Reason::kPaidAccused) return true;
    const auto slot = contracts::read_slot(state, line.job, line.round, line.slot);
    return slot && slot->cleared;
}

void add_line(const contracts::StateView& state, const contracts::SettlementLine& line, EarningsRow& row) {
    ++row.slots;
    row.lost = contracts::sum(row.lost, line.lost);
    if (line.paid.is_zero()) return;
    if (is_earned(state, line)) {
        row.earned = contracts::sum(row.earned, line.paid);
        row.work_units += line.work_units;
    }
    const auto claim =
        contracts::read_claim(state, {line.job, line.round, contracts::ClaimKind::kSlot, line.slot});
    if (claim && !claim->dead) row.held = contracts::sum(row.held, claim->held);
}

void add_games(const std::vector<contracts::Game>& games, const base::PublicKey& miner, EarningsRow& row) {
    for (const contracts::Game& game : games) {
        const bool own = game.kind == contracts::ClaimKind::kSlot && game.claimant == miner &&
                         game.round == row.round && game.killed_claim();
        if (!own) continue;
        row.lost = contracts::sum(row.lost, game.lost);
        row.returned = contracts::sum(row.returned, game.returned);
    }
}

/// Whether an opened ask lost its deposit: it was above the cap, or its bond was not free. Whether that of
/// one at or above the first rejected price was, no record says; it is taken for rejected.
bool lost_its_deposit(const contracts::Job& job, const contracts::Ask& ask) {
    const bool won = std::any_of(job.roster.begin(), job.roster.end(),
                                 [&](const auto& entry) { return entry.node == ask.miner; });
    if (won) return false;
    const auto& rejected = job.auction.first_rejected;
    return ask.price > job.spec.market.max_price || !rejected || ask.price < *rejected;
}

/// The deposit of an ask that was never opened, or could not have won.
std::optional<DatedRow<EarningsRow>> burned_ask(const contracts::StateView& state, const contracts::Job& job,
                                                const base::PublicKey& miner) {
    const auto ask = contracts::read_ask(state, job.id, miner);
    const bool bidding =
        job.phase == contracts::JobPhase::kAskCommit || job.phase == contracts::JobPhase::kAskReveal;
    if (!ask || bidding || !ask->deposit.is_zero()) return std::nullopt;
    if (ask->revealed && !lost_its_deposit(job, *ask)) return std::nullopt;
    DatedRow<EarningsRow> dated{.row = {.job = job.id}, .height = job.submitted_at};
    dated.row.lost = contracts::params_of(state, job).ask_deposit;
    return dated;
}

void add_miner_rows(const contracts::StateView& state, const contracts::Job& job,
                    const base::PublicKey& miner, const EarningsSources& sources,
                    std::vector<DatedRow<EarningsRow>>& rows) {
    if (auto burned = burned_ask(state, job, miner)) rows.push_back(*std::move(burned));
    const auto games = contracts::list_games(state, job.id);
    for (std::uint32_t round = 0; round < rounds_begun(job); ++round) {
        DatedRow<EarningsRow> dated{.row = {.job = job.id, .round = round}, .height = 0};
        for (const contracts::SettlementLine& line : contracts::list_settlement(state, job.id, round)) {
            if (line.node == miner && line.kind == contracts::LineKind::kSlot)
                add_line(state, line, dated.row);
        }
        if (dated.row.slots == 0) continue;
        add_games(games, miner, dated.row);
        if (sources.power) dated.row.power_cost = sources.power(job, dated.row.work_units);
        if (const auto progress = contracts::read_round_progress(state, job.id, round))
            dated.height = progress->settled_at;
        rows.push_back(std::move(dated));
    }
}

/// Nothing stays nothing where work was paid whose cost is not known.
void add_cost(EarningsRow& sum, const EarningsRow& one, bool first) {
    if (one.work_units == 0 && !one.power_cost) return;
    if (!one.power_cost || (!first && !sum.power_cost)) {
        sum.power_cost.reset();
        return;
    }
    sum.power_cost = contracts::sum(sum.power_cost.value_or(Amount{}), *one.power_cost);
}

void add_miner_row(EarningsRow& sum, const EarningsRow& one) {
    add_cost(sum, one, sum.work_units == 0);
    sum.slots += one.slots;
    sum.work_units += one.work_units;
    sum.earned = contracts::sum(sum.earned, one.earned);
    sum.held = contracts::sum(sum.held, one.held);
    sum.returned = contracts::sum(sum.returned, one.returned);
    sum.lost = contracts::sum(sum.lost, one.lost);
}

}  // namespace

std::string_view to_text(EarningsBy by) {
    switch (by) {
        case EarningsBy::kRound: return "round";
        case EarningsBy::kJob: return "job";
        case EarningsBy::kDay: return "day";
    }
    return "unknown";
}

Outcome<Earnings> miner_earnings(const contracts::StateView& state, const base::PublicKey& miner,
                                 EarningsBy by, const EarningsSources& sources) {
    std::vector<DatedRow<EarningsRow>> dated;
    for (const contracts::Job& job : contracts::list_jobs(state))
        add_miner_rows(state, job, miner, sources, dated);
    ASSAY_ASSIGN(auto summed, summed_rows(dated, by, sources.day_of, add_miner_row));
    Earnings earnings{
        .miner = miner, .by = by, .rows = std::move(summed.rows), .total = std::move(summed.total)};
    if (const auto record = contracts::read_miner(state, miner)) {
        earnings.ledger_earned = record->earned;
        earnings.ledger_forfeited = record->forfeited;
    }
    return earnings;
}

}  // namespace assay::node
