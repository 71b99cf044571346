// SPDX-License-Identifier: Apache-2.0
// Messages of a round: record it, then let the round go on if it was the last one awaited.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/archive.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/phases.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

template <class Change>
void change_slot(Work& work, const Hash256& job, std::uint32_t round, std::uint32_t number, Change change) {
    SlotRound slot = *read_slot(work.state, job, round, number);
    change(slot);
    store(work.state, slot_key(job, round, number), slot);
}

template <class Tx, class Change>
void change_merge(Work& work, const Sent& sent, const Tx& tx, Change change) {
    const Bytes key = merge_posting_key(tx.job, tx.round, sent.sender);
    auto posting = required(load<MergePosting>(work.state, key));
    change(posting);
    store(work.state, key, posting);
}

}  // namespace

void carry_out(Work& work, const Sent& sent, const RoundCommit& tx) {
    change_slot(work, tx.job, tx.round, tx.slot, [&](SlotRound& slot) {
        slot.committed = true;
        slot.seal = tx.seal;
        slot.committed_at = work.block.height;
    });
    work.tell({.kind = EventKind::kCommitted,
               .job = tx.job,
               .round = tx.round,
               .slot = tx.slot,
               .node = sent.sender});
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const BeaconOpen& tx) {
    BeaconMember member = *read_beacon_member(work.state, tx.job, sent.sender);
    member.tip = tx.link;
    ++member.used;
    store(work.state, beacon_member_key(tx.job, sent.sender), member);
    BeaconLink link = *read_beacon_link(work.state, tx.job, tx.round, sent.sender);
    link.opened = true;
    link.link = tx.link;
    store(work.state, beacon_link_key(tx.job, tx.round, sent.sender), link);
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const RoundServe& tx) {
    Serve serve{tx.trace_root, {}};
    change_slot(work, tx.job, tx.round, tx.slot, [&](SlotRound& slot) {
        slot.served = true;
        slot.diverged_unit = tx.diverged_unit;
        if (tx.diverged_unit) slot.drawn_units = with_divergence(slot.drawn_units, *tx.diverged_unit);
        auto opened = tx.starts.begin();
        for (const program::UnitRun& run : program::runs_of(slot.drawn_units)) {
            if (run.from_base()) continue;
            serve.starts.push_back({run.first, required(program::opened_state(opened->start)), opened->blob});
            ++opened;
        }
    });
    store(work.state, serve_key(tx.job, tx.round, tx.slot), serve);
    work.tell(
        {.kind = EventKind::kServed, .job = tx.job, .round = tx.round, .slot = tx.slot, .node = sent.sender});
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const StorageBitmap& tx) {
    store(work.state, storage_key(tx.job, tx.round, sent.sender), StoragePosting{sent.sender, tx.bits});
    work.tell({.kind = EventKind::kStored, .job = tx.job, .round = tx.round, .node = sent.sender});
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const RoundReveal& tx) {
    Reveal reveal{tx.trace, tx.salt, tx.update_blob, tx.carried_blob};
    const Bytes record = base::encode(reveal);
    work.state.put(reveal_key(tx.job, tx.round, tx.slot), record);
    store(work.state, reveal_place_key(tx.job, tx.round, tx.slot), place_in_log(work, sent, record));
    if (tx.start.carried) store(work.state, shown_age_key(tx.job, tx.round, tx.slot), tx.start.carried->age);
    change_slot(work, tx.job, tx.round, tx.slot, [&](SlotRound& slot) {
        slot.revealed = true;
        slot.diverged = tx.trace.divergence.has_value();
    });
    work.tell({.kind = EventKind::kRevealed,
               .job = tx.job,
               .round = tx.round,
               .slot = tx.slot,
               .node = sent.sender});
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const AuditSeal& tx) {
    AuditPosting posting = *read_audit(work.state, tx.job, tx.round, tx.stage, sent.sender);
    posting.sealed = true;
    posting.sealed_at = work.block.height;
    posting.seal = tx.seal;
    posting.replayed = tx.replayed;
    store(work.state, audit_key(tx.job, tx.round, tx.stage, sent.sender), posting);
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const AuditOpen& tx) {
    AuditPosting posting = *read_audit(work.state, tx.job, tx.round, tx.stage, sent.sender);
    posting.opened = true;
    posting.claims = tx.claims;
    const Bytes record = base::encode(posting);
    work.state.put(audit_key(tx.job, tx.round, tx.stage, sent.sender), record);
    store(work.state, audit_place_key(tx.job, tx.round, tx.stage, sent.sender),
          place_in_log(work, sent, record));
    work.tell({.kind = EventKind::kAudited, .job = tx.job, .round = tx.round, .node = sent.sender});
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const MergeSeal& tx) {
    change_merge(work, sent, tx, [&](MergePosting& posting) {
        posting.sealed = true;
        posting.seal = tx.seal;
    });
    advance_job(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const MergeOpen& tx) {
    const auto postings = list_merge_postings(work.state, tx.job, tx.round);
    const auto before = std::count_if(postings.begin(), postings.end(),
                                      [](const MergePosting& posting) { return posting.opened; });
    change_merge(work, sent, tx, [&](MergePosting& posting) {
        posting.opened = true;
        posting.claim = tx.claim;
        posting.order = static_cast<std::uint32_t>(before);
        if (tx.claim.clips.empty()) return;
        store(work.state, merge_place_key(tx.job, tx.round, sent.sender),
              place_in_log(work, sent, base::encode(posting)));
    });
    advance_job(work, tx.job);
}

}  // namespace assay::contracts
