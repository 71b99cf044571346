// SPDX-License-Identifier: Apache-2.0
// The keys, readers and writers of jobs and their asks, for rules and readers of the state. A reader returns
// nothing when there is no such record. Bytes that do not decode mean that the ledger's own store is damaged;
// they end the process.
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
/// The owner key that submitted the job: its buyer, or the member of the buyer's team. Both count as the
/// buyer's side wherever a rule keeps the two sides apart. Other members do not count: otherwise a sponsor
/// could exclude anybody from judging its jobs by granting it membership.
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
/// The ids of all jobs, ended ones included.
std::vector<Hash256> list_job_ids(const StateView& state);
/// The jobs whose records `state` has. Jobs whose records have left are missing, unless `state` is a
/// WithHistory or the records were put back (history.hpp).
std::vector<Job> list_jobs(const StateView& state);
std::vector<Hash256> list_active_jobs(const StateView& state);
std::vector<Ask> list_asks(const StateView& state, const Hash256& job);

/// Writes the pieces of the job that differ from the stored ones. Lists may have grown but never shrink.
/// Places follow from the order of the lists.
void write_job(State& state, const Job& job);

}  // namespace assay::contracts
