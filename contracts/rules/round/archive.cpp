// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/archive.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Hash256 hash_of_record(ByteView record) { return base::hash("assay/record/v1", record); }

LogPlace place_in_log(const Work& work, const Sent& sent, ByteView record) {
    return {hash_of_record(record), work.block.height, sent.id};
}

void archive_round(State& state, const Hash256& job, std::uint32_t round) {
    for (const SlotRound& slot : list_slots(state, job, round)) {
        if (state.get(serve_key(job, round, slot.slot))) state.erase(serve_key(job, round, slot.slot));
        if (state.get(reveal_place_key(job, round, slot.slot)))
            state.erase(reveal_key(job, round, slot.slot));
        if (state.get(shown_age_key(job, round, slot.slot)))
            state.erase(shown_age_key(job, round, slot.slot));
    }
    for (AuditPosting posting : list_audits(state, job, round)) {
        if (!state.get(audit_place_key(job, round, posting.stage, posting.verifier))) continue;
        posting.claims.clear();
        store(state, audit_key(job, round, posting.stage, posting.verifier), posting);
    }
    for (MergePosting posting : list_merge_postings(state, job, round)) {
        if (!state.get(merge_place_key(job, round, posting.verifier))) continue;
        posting.claim.clips.clear();
        store(state, merge_posting_key(job, round, posting.verifier), posting);
    }
}

}  // namespace assay::contracts
