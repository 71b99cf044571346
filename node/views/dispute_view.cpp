// SPDX-License-Identifier: Apache-2.0
#include "node/views/dispute_view.hpp"

#include <algorithm>

#include "contracts/dispute/words.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::node {

namespace {

using contracts::ClaimKind;
using contracts::Game;
using contracts::GameEnd;
using contracts::GamePhase;
using dispute::UnitKind;

/// As much of the claim as words need: its hashes may have left the state.
dispute::UnitClaim outline_of(const contracts::StateView& state, const contracts::Job& job,
                              const Game& game) {
    dispute::UnitClaim claim;
    claim.kind = game.unit;
    claim.round = game.round;
    claim.slot = game.unit == UnitKind::kClip ? game.part : game.claim;
    if (game.unit == UnitKind::kSegment) {
        const program::StepRange steps = program::RoundPlan(job.spec).steps(game.part);
        claim.segment = game.part;
        claim.first_step = steps.first;
        claim.last_step = steps.last;
    }
    const auto round = contracts::read_round_progress(state, job.id, game.round);
    if (round && game.kind == ClaimKind::kMerge)
        claim.clips.assign(round->merged_slots.size(), dispute::kNoClip);
    return claim;
}

void place(const contracts::StateView& state, const contracts::Job& job, const Game& game, DisputeRow& row) {
    const dispute::UnitClaim claim = outline_of(state, job, game);
    dispute::UnitFacts facts(job.spec, claim);
    const dispute::DisputedPlace at = dispute::disputed_place(game.way, facts);
    row.words = dispute::describe_way(game.way, facts);
    if (game.unit != UnitKind::kMerge) row.slot = claim.slot;
    if (game.unit == UnitKind::kSegment) row.segment = game.part;
    row.step = at.step;
    if (!at.subject.empty()) {
        row.what = at.subject;
        // Marks of names are for people.
        std::erase(*row.what, '`');
    }
    if (at.tile) row.tile = {at.tile->row, at.tile->col};
    row.term = at.term;
}

void tell_end(const Game& game, const DisputeSources& sources, DisputeRow& row) {
    row.end = game.end;
    row.ended_at = game.ended_at;
    row.transaction = sources.transaction;
    row.witness_bytes = game.finding.witness_bytes;
    const bool is_judged = game.end == GameEnd::kJudged || game.end == GameEnd::kVoid;
    if (is_judged) {
        row.referee = game.finding.reason;
        row.referee_us = sources.referee_us;
    }
    using dispute::GameReason;
    const bool has_bits = is_judged && (game.finding.reason == GameReason::kDiffers ||
                                        game.finding.reason == GameReason::kDiverges);
    if (has_bits) {
        const auto bits = [](std::uint64_t high, std::uint64_t low) {
            return dispute::bits_text(base::Uint128{high} << 64U | low);
        };
        row.claimed = bits(game.finding.claimed_high, game.finding.claimed_low);
        row.computed = bits(game.finding.computed_high, game.finding.computed_low);
    }
    if (game.end == GameEnd::kClosed || game.end == GameEnd::kVoid) return;
    row.loser = game.claimant_lost ? game.claimant : game.challenger;
    row.winner_owner = game.claimant_lost ? game.challenger_owner : game.claimant_owner;
    row.lost = game.lost;
    row.to_winner = game.to_winner;
    row.to_buyer = game.to_buyer;
    // The rules write lost = to_winner + to_buyer + burned.
    row.burned = game.lost;
    for (const base::Amount part : {game.to_winner, game.to_buyer})
        row.burned = row.burned.minus(part).value_or(row.burned);
    row.returned = game.returned;
}

std::string unit_name(const DisputeRow& row) {
    const std::string round = ", round " + std::to_string(row.round);
    const std::string slot = row.slot ? "slot " + std::to_string(*row.slot) : std::string();
    switch (row.unit) {
        case UnitKind::kSegment: return "segment " + std::to_string(*row.segment) + " of " + slot + round;
        case UnitKind::kUpdate: return "the update of " + slot + round;
        case UnitKind::kCarried: return "what " + slot + " hands on" + round;
        case UnitKind::kClip: return "the clip of " + slot + " in the merge" + round;
        case UnitKind::kMerge: break;
    }
    return "the merge" + round;
}

std::string found_text(const DisputeRow& row) {
    if (!row.claimed) return row.words;
    return row.words + ": claimed " + *row.claimed + ", the operands give " + *row.computed;
}

std::string running_text(const DisputeRow& row) {
    if (row.phase == GamePhase::kQueued) return "Waits until its claimant plays fewer games.";
    std::string text = "Open";
    if (row.turn) {
        text += ": the ";
        text += *row.turn == row.claimant ? "claimant " : "challenger ";
        text += row.turn->brief() + " is to move";
    }
    if (row.heights_left) text += ", " + std::to_string(*row.heights_left) + " heights are left to it";
    return text + ".";
}

std::string end_text(const DisputeRow& row) {
    const std::string loser = row.loser ? row.loser->brief() : std::string();
    std::string text;
    switch (row.end) {
        case GameEnd::kJudged:
            text = "Judged by the ledger's own computation (" + std::string(to_text(*row.referee)) + ")";
            break;
        case GameEnd::kSilent: text = loser + " let its clock run out"; break;
        case GameEnd::kConceded: text = loser + " conceded"; break;
        case GameEnd::kClosed: text = "Closed, since the claim died in another dispute: nobody lost"; break;
        case GameEnd::kVoid:
            text = "The job's own data are at fault (" + std::string(to_text(*row.referee)) +
                   "): nobody lost, and the job ends";
            break;
        case GameEnd::kNone: return running_text(row);
    }
    text += ", at height " + std::to_string(row.ended_at);
    if (row.transaction) text += " in transaction " + row.transaction->hex();
    return text + ".";
}

std::string loss_text(const DisputeRow& row) {
    const bool is_claimant = *row.loser == row.claimant;
    const std::string whose = std::string(is_claimant ? "The claimant " : "The challenger ");
    std::string text = whose + row.loser->brief() + " lost " + base::to_text(row.lost);
    std::vector<std::string> parts;
    if (!row.to_winner.is_zero())
        parts.push_back(base::to_text(row.to_winner) + " to " + row.winner_owner->brief() +
                        ", the winner's owner");
    if (!row.to_buyer.is_zero()) parts.push_back(base::to_text(row.to_buyer) + " to the buyer");
    if (!row.burned.is_zero()) parts.push_back(base::to_text(row.burned) + " burned");
    for (const std::string& part : parts) text += (&part == parts.data() ? ": " : "; ") + part;
    if (!row.returned.is_zero())
        text += ". " + base::to_text(row.returned) + " of held pay went back to the job's escrow";
    return text + ".";
}

}  // namespace

DisputeRow dispute_row(const contracts::StateView& state, const contracts::Job& job, const Game& game,
                       const DisputeSources& sources) {
    DisputeRow row;
    row.id = job.id.hex() + "/" + std::to_string(game.number);
    row.round = game.round;
    row.moves = game.moves;
    row.challenger = game.challenger;
    row.unit = game.unit;
    row.claimant = game.claimant;
    row.called = game.called;
    row.opened_at = game.opened_at;
    row.phase = game.phase;
    row.bond = game.bond;
    place(state, job, game, row);
    if (!game.is_open()) tell_end(game, sources, row);
    if (game.phase != GamePhase::kRunning) return row;
    row.turn = game.way.claimant_moves() ? game.claimant : game.challenger;
    if (sources.height) row.heights_left = game.due - std::min(game.due, *sources.height);
    return row;
}

std::vector<Game> games_of(const contracts::StateView& state, const base::Hash256& job, std::uint32_t round,
                           const base::PublicKey& node) {
    const auto record = contracts::read_round(state, job, round);
    const auto claims = [&](const Game& game) {
        if (game.kind == ClaimKind::kSlot) {
            const auto slot = contracts::read_slot(state, job, round, game.claim);
            return slot && slot->miner == node;
        }
        return record && game.claim < record->merges.size() && record->merges[game.claim].verifier == node;
    };
    std::vector<Game> found;
    for (const Game& listed : contracts::list_games(state, job)) {
        const bool plays = listed.claimant == node || listed.challenger == node;
        if (listed.round != round || (!plays && !claims(listed))) continue;
        // With what was posted: it says whose turn it is.
        if (auto game = contracts::read_game(state, job, listed.number)) found.push_back(*std::move(game));
    }
    return found;
}

std::vector<std::string> sentences(const DisputeRow& row) {
    std::vector<std::string> said;
    said.push_back(row.challenger.brief() + (row.called ? " called " : " challenged ") +
                   row.claimant.brief() + " over " + unit_name(row) +
                   (row.called ? ", for which it had vouched" : "") + ", at height " +
                   std::to_string(row.opened_at) +
                   (row.bond.is_zero() ? "" : ", with a bond of " + base::to_text(row.bond)) + ".");
    if (row.what || row.step) said.push_back(found_text(row) + ".");
    said.push_back(end_text(row));
    if (row.loser) said.push_back(loss_text(row));
    return said;
}

}  // namespace assay::node
