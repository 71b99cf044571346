// SPDX-License-Identifier: Apache-2.0
// Keys and readers of jobs and their asks. A reader returns nothing when there is no such record; bytes that
// do not decode are damage to the ledger's own store and end the process.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes job_key(const Hash256& job);
Bytes active_job_key(const Hash256& job);
Bytes ask_key(const Hash256& job, const PublicKey& miner);

/// The parameters of one job: those it was submitted under, whatever is current by now. Everything that a
/// rule, an audit or a role decides about a job reads these.
Params params_of(const StateView& state, const Job& job);
std::optional<Job> read_job(const StateView& state, const Hash256& job);
std::optional<Ask> read_ask(const StateView& state, const Hash256& job, const PublicKey& miner);

// Listing, ascending by key.
std::vector<Job> list_jobs(const StateView& state);
std::vector<Hash256> list_active_jobs(const StateView& state);
std::vector<Ask> list_asks(const StateView& state, const Hash256& job);

}  // namespace assay::contracts
