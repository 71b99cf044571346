// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/migration_steps.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

/// The parts of a list, without the wrapping of their old layout.
template <class Now, class Old>
std::vector<Now> unwrapped(std::vector<Old>& old) {
    std::vector<Now> now;
    for (Old& one : old) now.push_back(std::move(one.now));
    return now;
}

}  // namespace

/// A record of a whole job, and of a whole round, becomes one record for each piece that a message changes.
/// What falls due is listed by height, and the active jobs are counted. Nothing changes its meaning.
void from_2_to_3(State& state) {
    MetaOfSchema2 meta = stored<MetaOfSchema2>(required(state.get(meta_key())));
    meta.now.active_jobs = static_cast<std::uint32_t>(list_active_jobs(state).size());
    store(state, meta_key(), meta.now);
    rewrite<RoundOfSchema2>(state, Table::kRound, [&](const Bytes&, RoundOfSchema2& old) {
        old.round.links = unwrapped<BeaconLink>(old.links);
        old.round.merges = unwrapped<MergePosting>(old.merges);
        write_round(state, old.round);
    });
    rewrite<JobOfSchema2>(state, Table::kJobTerms, [&](const Bytes&, JobOfSchema2& old) {
        Job& job = old.job;
        job.roster = unwrapped<RosterEntry>(old.roster);
        job.verifiers = unwrapped<EnlistedVerifier>(old.verifiers);
        job.beacon = unwrapped<BeaconMember>(old.beacon);
        if (job.phase == JobPhase::kRounds) {
            schedule(state, job.id, job,
                     required(read_round_progress(state, job.id, job.round)).phase_deadline);
        } else if (job.phase != JobPhase::kEnded) {
            schedule(state, job.id, job, job.phase_deadline);
        }
        write_job(state, job);
    });
}

}  // namespace assay::contracts
