// SPDX-License-Identifier: Apache-2.0
// Gives `assay job submit` the purchase: a job file bought from submission to the last base state at home.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>

#include "contracts/rules/job/records.hpp"
#include "node/config/job_file.hpp"
#include "node/processes/role_process.hpp"
#include "node/roles/misconduct.hpp"

namespace assay::node {

struct PurchaseOptions {
    RoleProcessOptions process;
    std::filesystem::path job_file;
    double challenge = 0;                            ///< BuyerOptions::challenge
    std::optional<base::Amount> bid = std::nullopt;  ///< BuyerOptions::bid
    Misconducts conducts = {};                       ///< drills of the buyer; none of an honest one
    /// Has the owner buy the job of this spec, to be served at the endpoint, and says which it is: one of the
    /// same spec that was bought before is not bought again. Called while nobody can reach this process.
    std::function<base::Outcome<base::Hash256>(const program::JobSpec&, const std::string& endpoint)> buy;
};

/// kUsage where a bid is given for a job that leases no machines, or one above the job's cap.
base::Outcome<void> check_bid(const std::optional<base::Amount>& bid, const program::JobSpec& spec);

/// Fills in what a job file leaves open, the initial root and, with a model folder, its blob; the folder's
/// weights as a file, null for a job that starts from its seed. Starts a worker for it.
base::Outcome<worker::SharedDescriptor> complete(JobFile& job, const WorkerOptions& options);

/// Computes the job's initial root, stores its data as blobs, has it bought, serves it until it ends. Errors:
/// those of read_job_file, check_bid, RoleProcess::open and `buy`. Asked to stop before the job ended:
/// kInterrupted (the job goes on; run it again to go on serving).
base::Outcome<contracts::Job> purchase(PurchaseOptions options, std::stop_token stop);

struct ResumeOptions {
    RoleProcessOptions process;
    contracts::Job job;              ///< as the ledger node has it; the role believes its blocks alone
    std::filesystem::path job_file;  ///< empty: the job's data must be in the home
    double challenge = 0;            ///< BuyerOptions::challenge
    std::optional<base::Amount> bid = std::nullopt;  ///< BuyerOptions::bid
};

/// Serves a job that was bought with this home's node key, from here on, until it ends: after its process has
/// gone, or on another machine with the same keys. Errors: kKey when another node key bought it; kNotFound
/// when its data are neither in the home nor in a job file; those of purchase().
base::Outcome<contracts::Job> resume(ResumeOptions options, std::stop_token stop);

}  // namespace assay::node
