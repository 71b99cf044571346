// SPDX-License-Identifier: Apache-2.0
// Gives rules and readers of the state the keys, readers and writers of jobs and their asks. A reader
// returns nothing when there is no such record; bytes that do not decode are damage to the ledger's own
// store and end the process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes job_terms_key(const Hash256& job);
Bytes job_progress_key(const Hash256& job);
Bytes bidding_key(const Hash256& job);
Bytes buyer_endpoint_key(const Hash256& job);
Bytes roster_key(const Hash256& job, const PublicKey& miner);
Bytes dropped_at_key(const Hash256& job, const PublicKey& miner);
Bytes panel_key(const Hash256& job, const PublicKey& verifier);
Bytes beacon_member_key(const Hash256& job, const PublicKey& node);
Bytes active_job_key(const Hash256& job);
Bytes job_additions_key(const Hash256& job);
Bytes ask_key(const Hash256& job, const PublicKey& miner);

/// The parameters of one job: those it was submitted under, whatever is current by now. Everything that a
/// rule, an audit or a role decides about a job reads these.
Params params_of(const StateView& state, const JobTerms& job);
/// A whole job, from all its pieces. A check or a change that needs one piece reads that one.
std::optional<Job> read_job(const StateView& state, const Hash256& job);
std::optional<JobTerms> read_job_terms(const StateView& state, const Hash256& job);
std::optional<JobProgress> read_job_progress(const StateView& state, const Hash256& job);
/// No record: nothing was added.
JobAdditions read_job_additions(const StateView& state, const Hash256& job);
/// The owner key that submitted the job: its buyer, or the member of the buyer's team. Both are on the
/// buyer's side wherever the two sides must not be the same. Other members are not: whoever grants could else
/// keep anybody it likes from judging its jobs.
PublicKey submitter_of(const StateView& state, const JobTerms& job);
bool is_of_buyer(const StateView& state, const JobTerms& job, const PublicKey& owner);
std::optional<Bidding> read_bidding(const StateView& state, const Hash256& job);
std::optional<BeaconMember> read_beacon_member(const StateView& state, const Hash256& job,
                                               const PublicKey& node);
std::optional<EnlistedVerifier> read_enlisted(const StateView& state, const Hash256& job,
                                              const PublicKey& node);
/// The height at which a member of a job that leases was last dropped.
std::optional<std::uint64_t> read_dropped_at(const StateView& state, const Hash256& job,
                                             const PublicKey& miner);
std::optional<Ask> read_ask(const StateView& state, const Hash256& job, const PublicKey& miner);

// Listing, ascending by key.
/// The names of all jobs that there are or were.
std::vector<Hash256> list_job_ids(const StateView& state);
/// Those whose records `state` has. Of jobs whose records have left it has none, unless it is a WithHistory
/// or they were put back (history.hpp).
std::vector<Job> list_jobs(const StateView& state);
std::vector<Hash256> list_active_jobs(const StateView& state);
std::vector<Ask> list_asks(const StateView& state, const Hash256& job);

/// Writes those pieces of the job that are not stored so already. Lists may have grown, and never shrink.
/// Places follow from the order of the lists.
void write_job(State& state, const Job& job);

}  // namespace assay::contracts
