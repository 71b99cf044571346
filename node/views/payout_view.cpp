// SPDX-License-Identifier: Apache-2.0
#include "node/views/payout_view.hpp"

#include "node/views/rounds_begun.hpp"

namespace assay::node {

namespace {

/// The part of a line's amounts that games took: games about the line's own claim, or about a claim that its
/// audit accused or vouched for.
struct TakenByGames {
    base::Amount returned;
    base::Amount lost;
};

TakenByGames taken_by(const std::vector<contracts::Game>& games, const contracts::SettlementLine& line) {
    TakenByGames taken;
    for (const contracts::Game& game : games) {
        const bool of_slot = game.kind == contracts::ClaimKind::kSlot;
        const bool about = game.round == line.round && game.claim == line.slot;
        const bool slot_line = line.kind == contracts::LineKind::kSlot && of_slot && about && !game.called;
        const bool audit_line = line.kind == contracts::LineKind::kAudit && of_slot && about;
        const bool merge_line =
            line.kind == contracts::LineKind::kMerge && !of_slot && game.round == line.round;
        const base::PublicKey& loser = game.claimant_lost ? game.claimant : game.challenger;
        if (loser != line.node || !(slot_line || audit_line || merge_line)) continue;
        taken.lost = contracts::sum(taken.lost, game.lost);
        if (slot_line || merge_line) taken.returned = contracts::sum(taken.returned, game.returned);
    }
    return taken;
}

}  // namespace

std::string PayoutLine::explanation() const {
    if (reason != contracts::Reason::kAuditSilent || !evidence.sealing)
        return std::string(contracts::explain(reason));
    return evidence.sealing->left_out
               ? "The drawn verifier sealed others of its slots and left this one out: it costs what a lost "
                 "accusation costs."
               : "The drawn verifier sealed none of its slots in time: each costs what a lost accusation "
                 "costs.";
}

PayoutLines payout_lines(const contracts::StateView& state, const LineFilter& filter) {
    PayoutLines found;
    for (const contracts::Job& job : contracts::list_jobs(state)) {
        const std::vector<contracts::Game> games = contracts::list_games(state, job.id);
        const std::uint32_t first = filter.round.value_or(0);
        const std::uint32_t last = filter.round.value_or(rounds_begun(job) - 1);
        for (std::uint32_t round = first; round <= last && round < rounds_begun(job); ++round) {
            for (const auto& line : contracts::list_settlement(state, job.id, round)) {
                if (line.node != filter.node) continue;
                const TakenByGames taken = taken_by(games, line);
                const bool unpaid = line.paid.is_zero() || !line.lost.is_zero() ||
                                    !taken.returned.is_zero() || !taken.lost.is_zero();
                if (!unpaid && filter.unpaid_only) continue;
                found.lines.push_back({.job = line.job,
                                       .round = line.round,
                                       .kind = line.kind,
                                       .slot = line.slot,
                                       .reason = line.reason,
                                       .work_units = line.work_units,
                                       .price = line.price,
                                       .paid = line.paid,
                                       .from_escrow = line.from_escrow,
                                       .from_prepaid = line.from_prepaid,
                                       .from_slot = line.from_slot,
                                       .replays = line.replays,
                                       .lost = line.lost,
                                       .returned = taken.returned,
                                       .lost_in_games = taken.lost,
                                       .evidence = payout_evidence(state, job, line)});
            }
        }
    }
    return found;
}

}  // namespace assay::node
