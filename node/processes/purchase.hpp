// SPDX-License-Identifier: Apache-2.0
// Gives `assay job submit` the purchase: a job file bought from submission to the last base state at home.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>

#include "contracts/rules/job/records.hpp"
#include "node/processes/role_process.hpp"
#include "node/roles/refusal.hpp"

namespace assay::node {

struct PurchaseOptions {
    RoleProcessOptions process;
    std::filesystem::path job_file;
    /// Told before purchase() returns kRejected: number and name of the reason.
    std::function<void(const LedgerRefusal&)> on_refused;
};

/// Computes the job's initial root, stores its data as blobs, submits it, serves it until it ends. A job of
/// the same file that this buyer submitted before, running or ended, is gone on with, not bought again:
/// another name or seed makes another job. Errors: those of read_job_file and RoleProcess::open; kRejected
/// when the ledger refuses the job for what does not pass by itself in a moment. Asked to
/// stop before the job ended: kInterrupted (the job goes on; run it again to go on serving).
base::Outcome<contracts::Job> purchase(const PurchaseOptions& options, std::stop_token stop);

}  // namespace assay::node
