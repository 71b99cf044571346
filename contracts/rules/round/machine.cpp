// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/machine.hpp"

#include <algorithm>

#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/round/archive.hpp"
#include "contracts/rules/round/beacon.hpp"
#include "contracts/rules/round/merge.hpp"
#include "contracts/rules/round/seal_window.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

void save(RunningRound& running) {
    State& state = running.work.state;
    write_round(state, running.round);
    for (const SlotRound& slot : running.slots) {
        store_changed(state, slot_key(running.job.id, running.round.number, slot.slot), slot);
    }
}

namespace {

/// True when every posting of the stage that can still be sealed, or opened, is.
bool all_posted(const std::vector<AuditPosting>& postings, Stage stage, bool opening) {
    return std::all_of(postings.begin(), postings.end(), [&](const AuditPosting& posting) {
        if (posting.stage != stage) return true;
        return opening ? posting.opened || !posting.sealed : posting.sealed;
    });
}

/// True when every message of the phase that can still come is in. Reads only what the phase is about.
bool is_complete(const StateView& state, const Hash256& job, std::uint32_t number, RoundPhase phase) {
    const auto every_slot = [&](auto condition) {
        const auto slots = list_slots(state, job, number);
        return std::all_of(slots.begin(), slots.end(), condition);
    };
    const auto audits = [&](Stage stage, bool opening) {
        return all_posted(list_audits(state, job, number), stage, opening);
    };
    const auto merges = [&](auto condition) {
        const auto postings = list_merge_postings(state, job, number);
        return std::all_of(postings.begin(), postings.end(), condition);
    };
    switch (phase) {
        case RoundPhase::kCommit:
            return every_slot([](const SlotRound& slot) { return slot.committed || !slot.assigned; });
        case RoundPhase::kBeacon: {
            const auto links = list_beacon_links(state, job, number);
            return std::all_of(links.begin(), links.end(),
                               [](const BeaconLink& link) { return link.opened || link.withheld; });
        }
        case RoundPhase::kServe:
            return every_slot([](const SlotRound& slot) { return slot.served || !slot.committed; });
        case RoundPhase::kAuditSeal: return audits(Stage::kPanel, false);
        case RoundPhase::kConfirmSeal: return audits(Stage::kConfirm, false);
        case RoundPhase::kAuditOpen: return audits(Stage::kPanel, true) && audits(Stage::kConfirm, true);
        case RoundPhase::kRedrawSeal: return audits(Stage::kRedraw, false);
        case RoundPhase::kRedrawOpen: return audits(Stage::kRedraw, true);
        case RoundPhase::kReveal:
            return every_slot([](const SlotRound& slot) { return slot.revealed || !slot.committed; });
        case RoundPhase::kStore: return is_storage_settled(state, job, number);
        case RoundPhase::kMergeSeal: return merges([](const MergePosting& one) { return one.sealed; });
        case RoundPhase::kMergeOpen:
            return merges([](const MergePosting& one) { return one.opened || !one.sealed; });
        case RoundPhase::kSettled: return false;
    }
    ASSAY_CHECK(false);
}

/// Rounds in a row without a merge that end a job (docs/concepts/round.md).
constexpr std::uint32_t kUnmergedMost = 2;

void enter(RunningRound& running, RoundPhase phase, std::uint64_t window) {
    running.round.phase = phase;
    running.round.phase_deadline = later(running.work.block.height, window);
    schedule(running.work.state, running.job.id, running.job, running.round.phase_deadline);
    running.work.tell({.kind = EventKind::kRoundPhase,
                       .job = running.job.id,
                       .round = running.round.number,
                       .number = static_cast<std::uint64_t>(phase)});
}

/// Counts the rounds in a row in which no merge stood. One in which nobody committed is no word about merges:
/// who is absent is dropped, and others take the places.
void count_unmerged(RunningRound& running) {
    const bool any = std::any_of(running.slots.begin(), running.slots.end(),
                                 [](const SlotRound& slot) { return slot.committed; });
    if (running.round.merged)
        running.job.unmerged = 0;
    else if (any)
        ++running.job.unmerged;
}

/// The next round, from the merged state or, where no merge stands, from the same one; or the job's end, when
/// no merge stood in two rounds in a row, or the one that stands came to no finite state. Slots were paid
/// either way, the rest of the escrow goes back.
void finish(RunningRound& running) {
    settle(running);
    settle_links(running);
    running.round.phase = RoundPhase::kSettled;
    running.round.phase_deadline = 0;
    running.round.settled_at = running.work.block.height;
    save(running);
    Job& job = running.job;
    archive_if_closed(running.work.state, job.id, running.round.number);
    ++job.round;
    count_unmerged(running);
    if (running.round.merged) return start_round(running.work, job);
    if (standing_merge(running.round)) return end_job(running.work, job, Reason::kMergeDiverged);
    if (job.unmerged >= kUnmergedMost) return end_job(running.work, job, Reason::kMergeUnresolved);
    start_round(running.work, job);
}

void begin_merge(RunningRound& running) {
    conclude(running);
    // With zero slots there is nothing to merge.
    if (!call_mergers(running)) return finish(running);
    enter(running, RoundPhase::kMergeSeal, running.params.merge_seal_window);
}

void close_seals(RunningRound& running) {
    if (!confirm_replays(running)) {
        return enter(running, RoundPhase::kAuditOpen, running.params.audit_open_window);
    }
    call_audits(running, Stage::kConfirm);
    enter(running, RoundPhase::kConfirmSeal, audit_seal_window(running, Stage::kConfirm));
}

void close_audits(RunningRound& running) {
    if (!redraw_slots(running)) return enter(running, RoundPhase::kReveal, running.params.reveal_window);
    call_audits(running, Stage::kRedraw);
    enter(running, RoundPhase::kRedrawSeal, audit_seal_window(running, Stage::kRedraw));
}

void close_phase(RunningRound& running) {
    const Params& params = running.params;
    switch (running.round.phase) {
        case RoundPhase::kCommit: return enter(running, RoundPhase::kBeacon, params.beacon_window);
        case RoundPhase::kBeacon:
            if (void_try(running)) return enter(running, RoundPhase::kBeacon, params.beacon_window);
            draw_beacon(running);
            return enter(running, RoundPhase::kServe, params.serve_window);
        case RoundPhase::kServe:
            call_audits(running, Stage::kPanel);
            return enter(running, RoundPhase::kAuditSeal, audit_seal_window(running, Stage::kPanel));
        case RoundPhase::kAuditSeal: return close_seals(running);
        case RoundPhase::kConfirmSeal:
            return enter(running, RoundPhase::kAuditOpen, params.audit_open_window);
        case RoundPhase::kAuditOpen: return close_audits(running);
        case RoundPhase::kRedrawSeal:
            return enter(running, RoundPhase::kRedrawOpen, params.audit_open_window);
        case RoundPhase::kRedrawOpen: return enter(running, RoundPhase::kReveal, params.reveal_window);
        case RoundPhase::kReveal: return enter(running, RoundPhase::kStore, params.storage_window);
        case RoundPhase::kStore: return begin_merge(running);
        case RoundPhase::kMergeSeal: return enter(running, RoundPhase::kMergeOpen, params.merge_open_window);
        case RoundPhase::kMergeOpen: return finish(running);
        case RoundPhase::kSettled: break;
    }
    ASSAY_CHECK(false);
}

}  // namespace

bool is_phase_over(const Work& work, const Hash256& job, std::uint32_t number) {
    const RoundProgress round = required(read_round_progress(work.state, job, number));
    return work.block.height > round.phase_deadline || is_complete(work.state, job, number, round.phase);
}

bool advance_round(Work& work, Job& job) {
    if (!is_phase_over(work, job.id, job.round)) return false;
    RunningRound running{work, job, params_of(work.state, job),
                         required(read_round(work.state, job.id, job.round)),
                         list_slots(work.state, job.id, job.round)};
    const std::uint32_t number = running.round.number;
    close_phase(running);
    // finish() saved this round and may have begun the next one.
    if (job.round == number) save(running);
    return true;
}

}  // namespace assay::contracts
