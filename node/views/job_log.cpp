// SPDX-License-Identifier: Apache-2.0
#include "node/views/job_log.hpp"

#include <bit>

namespace assay::node {

namespace {

SlotLog slot_log(const contracts::SlotRound& slot, const std::vector<contracts::SettlementLine>& lines,
                 const std::optional<program::TraceRecord>& trace) {
    SlotLog log{.slot = slot.slot,
                .miner = slot.miner,
                .committed_at = slot.committed_at,
                .drawn_units = slot.drawn_units,
                .revealed = slot.revealed,
                .diverged = slot.diverged,
                .stored = slot.stored,
                .verdict = slot.verdict};
    for (const contracts::SettlementLine& line : lines) {
        if (line.kind != contracts::LineKind::kSlot || line.slot != slot.slot) continue;
        log.paid = line.paid;
        log.lost = line.lost;
    }
    if (!trace) return log;
    for (const program::Fingerprint& step : trace->fingerprints)
        log.losses.push_back(std::bit_cast<float>(step.loss));
    return log;
}

RoundLog round_log(const contracts::StateView& state, const contracts::Job& job, std::uint32_t number,
                   const contracts::RoundProgress& round, const TraceOf& trace_of) {
    RoundLog log{.round = number,
                 .started_at = round.started_at,
                 .settled_at = round.settled_at,
                 .beacon = round.beacon,
                 .merged = round.merged,
                 .merged_slots = round.merged_slots};
    if (round.train_steps > 0) log.train_loss = std::bit_cast<float>(round.train_loss);
    if (round.merged) log.held_out_loss = std::bit_cast<float>(round.result.held_out_loss);
    const auto lines = contracts::list_settlement(state, job.id, number);
    for (const contracts::SlotRound& slot : contracts::list_slots(state, job.id, number))
        log.slots.push_back(
            slot_log(slot, lines,
                     slot.revealed ? trace_of(number, slot.slot) : std::optional<program::TraceRecord>()));
    for (const contracts::AuditPosting& audit : contracts::list_audits(state, job.id, number))
        log.audits.push_back({audit.verifier, audit.stage, audit.called_at, audit.sealed_at, audit.opened});
    return log;
}

}  // namespace

std::vector<RoundLog> job_log(const contracts::StateView& state, const contracts::Job& job,
                              const TraceOf& trace_of) {
    std::vector<RoundLog> rounds;
    for (std::uint32_t number = 0; number < job.spec.rounds; ++number) {
        const auto round = contracts::read_round_progress(state, job.id, number);
        if (!round) break;
        rounds.push_back(round_log(state, job, number, *round, trace_of));
    }
    return rounds;
}

}  // namespace assay::node
