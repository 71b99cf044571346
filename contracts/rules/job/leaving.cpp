// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/leaving.hpp"

#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

EndedJob first_words(const StateView& state, const Hash256& id, const JobProgress& progress) {
    const JobTerms terms = required(read_job_terms(state, id));
    const JobAdditions additions = read_job_additions(state, id);
    EndedJob ended;
    ended.name = terms.spec.name;
    ended.buyer = terms.buyer;
    ended.buyer_node = terms.buyer_node;
    ended.spec = hash_of_spec(terms.spec);
    ended.submitted_at = terms.submitted_at;
    ended.ended_at = progress.ended_at;
    ended.reason = progress.end_reason;
    ended.rounds = terms.spec.rounds;
    ended.rounds_done = progress.rounds_done;
    ended.base_root = progress.base_root;
    ended.base_blob = progress.base_blob;
    ended.budget = whole_budget(terms, additions);
    ended.spent = progress.spent;
    ended.refunded = progress.refunded;
    return ended;
}

/// The first records of a table that this job still has, as many as a row and `room` take. Takes them off
/// `room`.
HistoryRow next_row(const StateView& state, ByteView prefix, ByteView from, LeavingRoom& room) {
    HistoryRow row;
    std::size_t bytes = 0;
    state.for_each(prefix, from, [&](ByteView key, ByteView value) {
        if (room.is_used_up() || row.records.size() == kMaxRowRecords || bytes >= kMaxRowBytes) return false;
        const std::size_t size = key.size() + value.size();
        bytes += size;
        --room.records;
        room.bytes -= std::min(room.bytes, size);
        row.records.emplace_back(base::to_bytes(key), base::to_bytes(value));
        return true;
    });
    return row;
}

RecordGroup& group_of(EndedJob& ended, Table table) {
    const auto number = static_cast<std::uint8_t>(table);
    if (ended.groups.empty() || ended.groups.back().table != number)
        ended.groups.push_back({number, 0, 0, {}});
    return ended.groups.back();
}

void leave_table(State& state, const Hash256& id, Table table, EndedJob& ended, LeavingRoom& room) {
    const Bytes prefix = KeyBuilder(table).add(id.view()).take();
    Bytes from = prefix;
    while (!room.is_used_up()) {
        const HistoryRow row = next_row(state, prefix, from, room);
        if (row.records.empty()) break;
        for (const auto& [key, value] : row.records) state.erase(key);
        from = row.records.back().first;
        Bytes encoded = base::encode(row);
        RecordGroup& group = group_of(ended, table);
        group.hash = extended_hash(group.hash, encoded);
        group.records += row.records.size();
        state.hand_over(history_key(id, table, group.rows++), std::move(encoded));
    }
}

}  // namespace

void schedule_leaving(State& state, const Hash256& id, JobProgress& job, std::uint64_t height) {
    ASSAY_CHECK(job.phase == JobPhase::kEnded && job.due == 0);
    ASSAY_CHECK(!has_open_claim(state, id));
    job.due = height;
    state.put(deadline_key({height, DueKind::kLeaving, id}), {});
}

void leave(State& state, const Hash256& id, std::uint64_t height, LeavingRoom& room) {
    if (room.is_used_up()) return;
    auto progress = read_job_progress(state, id);
    if (!progress) return;
    ASSAY_CHECK(progress->phase == JobPhase::kEnded && progress->due != 0);
    state.erase(deadline_key({progress->due, DueKind::kLeaving, id}));
    progress->due = 0;
    store(state, job_progress_key(id), *progress);
    auto known = read_ended_job(state, id);
    EndedJob ended = known ? std::move(*known) : first_words(state, id, *progress);
    for (const Table table : tables_of_job()) leave_table(state, id, table, ended, room);
    if (state.get(job_progress_key(id))) {
        schedule_leaving(state, id, *progress, later(height, 1));
        store(state, job_progress_key(id), *progress);
    }
    store(state, ended_job_key(id), ended);
}

}  // namespace assay::contracts
