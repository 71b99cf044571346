// SPDX-License-Identifier: Apache-2.0
// Gives `assay job submit` the purchase of a job file, from its submission to the fetch of its last base
// state.
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
    /// Has the owner buy the job of this spec, to be served at `endpoint`, and returns its id. A job of the
    /// same spec that was bought before is not bought again. Called while nobody can reach this process.
    std::function<base::Outcome<base::Hash256>(const program::JobSpec&, const std::string& endpoint)> buy;
};

/// kUsage when a bid is given for a job that leases no machines, or is above the job's cap.
base::Outcome<void> check_bid(const std::optional<base::Amount>& bid, const program::JobSpec& spec);

/// Fills in what a job file leaves open: the initial root and, with a model folder, the blob of the first
/// state. Returns that state's file, made from the folder's weights; null for a job that starts from its
/// seed. Starts a worker for this.
base::Outcome<worker::SharedDescriptor> complete(JobFile& job, const WorkerOptions& options);

/// Computes the job's initial root, stores its data as blobs, has the job bought, and serves it until it
/// ends. Errors: those of read_job_file, check_bid, RoleProcess::open and `buy`. Asked to stop before the job
/// ended: kInterrupted (the job goes on; run it again to go on serving).
base::Outcome<contracts::Job> purchase(PurchaseOptions options, std::stop_token stop);

struct ResumeOptions {
    RoleProcessOptions process;
    contracts::Job job;              ///< as the ledger node has it; the role believes only its blocks
    std::filesystem::path job_file;  ///< empty: the job's data must be in the home
    double challenge = 0;            ///< BuyerOptions::challenge
    std::optional<base::Amount> bid = std::nullopt;  ///< BuyerOptions::bid
};

/// Serves a job that was bought with this home's node key until it ends: after its process has ended, or on
/// another machine with the same keys. Errors: kKey when another node key bought it; kNotFound when its data
/// are neither in the home nor in a job file; those of purchase().
base::Outcome<contracts::Job> resume(ResumeOptions options, std::stop_token stop);

}  // namespace assay::node
