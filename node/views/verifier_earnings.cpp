// SPDX-License-Identifier: Apache-2.0
#include "node/views/verifier_earnings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/supply.hpp"
#include "node/views/earnings_sums.hpp"
#include "node/views/rounds_begun.hpp"

namespace assay::node {

namespace {

using contracts::Game;
using contracts::LineKind;
using contracts::Reason;
using contracts::SettlementLine;
using VerifierRow = DatedRow<VerifierEarningsRow>;

/// A round of a job as its rows are made from it.
struct JudgedRound {
    const contracts::StateView& state;
    const contracts::Job& job;
    const base::PublicKey& verifier;
    std::uint32_t number;
    std::vector<SettlementLine> lines;
    std::vector<Game> games;  ///< about its claims
};

/// Of an accusing audit that is right. The escrow may have held less.
base::Amount fee_of_audit(const JudgedRound& round, const SettlementLine& line) {
    const contracts::Params params = contracts::params_of(round.state, round.job);
    return contracts::audit_fee(params, line.price, line.work_units).value_or(base::Amount{});
}

/// The part of the fees of the game in which the slot's claim died that is the verifier's. The ledger keeps
/// their sum alone, and whose it is follows from it when nobody or everybody was right. Whoever won the game
/// was right.
base::Amount fee_in(const JudgedRound& round, const Game& game) {
    base::Amount all, own;
    std::size_t accusers = 0;
    bool accuses = false;
    for (const SettlementLine& line : round.lines) {
        if (line.kind != LineKind::kAudit || line.slot != game.claim || line.reason != Reason::kAuditAccuses)
            continue;
        ++accusers;
        all = contracts::saturating_sum(all, fee_of_audit(round, line));
        if (line.node != round.verifier) continue;
        accuses = true;
        own = fee_of_audit(round, line);
    }
    if (!accuses) return {};
    if (accusers == 1) return game.fees;
    const bool right = game.fees == all || game.challenger == round.verifier;
    return right ? std::min(own, game.fees) : base::Amount{};
}

void add_audit(const JudgedRound& round, const SettlementLine& line, VerifierEarningsRow& row) {
    ++row.audits;
    if (!line.paid.is_zero()) row.work_units += line.work_units;
    if (line.reason != Reason::kAuditAccuses) return;
    const auto claim = contracts::read_claim(
        round.state, {round.job.id, round.number, contracts::ClaimKind::kSlot, line.slot});
    if (!claim) return;
    for (const contracts::Accusation& one : claim->accusations)
        if (one.verifier == round.verifier) row.held = contracts::saturating_sum(row.held, one.fee);
}

void add_merge(const JudgedRound& round, const SettlementLine& line, VerifierEarningsRow& row) {
    ++row.merges;
    if (line.paid.is_zero()) return;
    const auto own = contracts::read_merge_posting(round.state, round.job.id, round.number, round.verifier);
    if (!own) return;
    const auto claim = contracts::read_claim(
        round.state, {round.job.id, round.number, contracts::ClaimKind::kMerge, own->place});
    if (claim && !claim->dead) row.held = contracts::saturating_sum(row.held, claim->held);
}

void add_lines(const JudgedRound& round, VerifierEarningsRow& row) {
    for (const SettlementLine& line : round.lines) {
        if (line.node != round.verifier || line.kind == LineKind::kSlot) continue;
        if (line.kind == LineKind::kAudit) add_audit(round, line, row);
        if (line.kind == LineKind::kMerge) add_merge(round, line, row);
        row.earned = contracts::saturating_sum(row.earned, line.paid);
        row.lost = contracts::saturating_sum(row.lost, line.lost);
    }
    // A link that is withheld costs its bond at once, and its line comes with the settlement.
    if (round.number != round.job.round) return;
    const auto link = contracts::read_beacon_link(round.state, round.job.id, round.number, round.verifier);
    if (link) row.lost = contracts::saturating_sum(row.lost, link->held);
}

void add_game(const JudgedRound& round, const Game& game, VerifierEarningsRow& row) {
    const bool of_slot = game.kind == contracts::ClaimKind::kSlot;
    if (game.killed_claim() && of_slot)
        row.earned = contracts::saturating_sum(row.earned, fee_in(round, game));
    // A key that is a miner's, too, answers for its slots as one.
    const bool as_miner = of_slot && !game.called;
    const bool claims = game.claimant == round.verifier && !as_miner;
    const bool challenges = game.challenger == round.verifier;
    if (game.is_open() || (!claims && !challenges)) return;
    if (game.claimant_lost != claims) {
        row.won = contracts::saturating_sum(row.won, game.to_winner);
        return;
    }
    if (claims) row.returned = contracts::saturating_sum(row.returned, game.returned);
    base::Amount& taken = claims || game.accuses ? row.lost : row.lost_bonds;
    taken = contracts::saturating_sum(taken, game.lost);
}

bool is_nothing(const VerifierEarningsRow& row) {
    return row.audits == 0 && row.merges == 0 && row.earned.is_zero() && row.won.is_zero() &&
           row.lost.is_zero() && row.lost_bonds.is_zero();
}

void add_verifier_rows(const contracts::StateView& state, const contracts::Job& job,
                       const base::PublicKey& verifier, std::vector<VerifierRow>& rows) {
    const std::vector<Game> games = contracts::list_games(state, job.id);
    const bool enlisted = std::any_of(job.verifiers.begin(), job.verifiers.end(),
                                      [&](const auto& one) { return one.node == verifier; });
    const bool plays = std::any_of(games.begin(), games.end(), [&](const Game& game) {
        return game.challenger == verifier || game.claimant == verifier;
    });
    if (!enlisted && !plays) return;
    for (std::uint32_t number = 0; number < rounds_begun(job); ++number) {
        JudgedRound round{state, job, verifier, number, contracts::list_settlement(state, job.id, number),
                          {}};
        std::copy_if(games.begin(), games.end(), std::back_inserter(round.games),
                     [&](const Game& game) { return game.round == number; });
        VerifierRow dated{.row = {.job = job.id, .round = number}, .height = 0};
        add_lines(round, dated.row);
        for (const Game& game : round.games) add_game(round, game, dated.row);
        if (is_nothing(dated.row)) continue;
        if (const auto progress = contracts::read_round_progress(state, job.id, number))
            dated.height = progress->settled_at;
        rows.push_back(std::move(dated));
    }
}

void add_verifier_row(VerifierEarningsRow& sum, const VerifierEarningsRow& one) {
    sum.audits += one.audits;
    sum.merges += one.merges;
    sum.work_units += one.work_units;
    sum.earned = contracts::saturating_sum(sum.earned, one.earned);
    sum.held = contracts::saturating_sum(sum.held, one.held);
    sum.returned = contracts::saturating_sum(sum.returned, one.returned);
    sum.won = contracts::saturating_sum(sum.won, one.won);
    sum.lost = contracts::saturating_sum(sum.lost, one.lost);
    sum.lost_bonds = contracts::saturating_sum(sum.lost_bonds, one.lost_bonds);
}

}  // namespace

base::Outcome<VerifierEarnings> verifier_earnings(const contracts::StateView& state,
                                                  const base::PublicKey& verifier, EarningsBy by,
                                                  const DayOf& day_of) {
    std::vector<VerifierRow> dated;
    for (const contracts::Job& job : contracts::list_jobs(state))
        add_verifier_rows(state, job, verifier, dated);
    ASSAY_ASSIGN(auto summed, summed_rows(dated, by, day_of, add_verifier_row));
    VerifierEarnings earnings{
        .verifier = verifier, .by = by, .rows = std::move(summed.rows), .total = std::move(summed.total)};
    if (const auto record = contracts::read_verifier(state, verifier)) {
        earnings.ledger_earned = record->earned;
        earnings.ledger_penalised = record->penalised;
    }
    return earnings;
}

}  // namespace assay::node
