// SPDX-License-Identifier: Apache-2.0
// Gives a process BuyerRole, which submits a job; then, made anew without the owner's key, serves its
// data, opens its beacon links, and brings home every base state.
#pragma once

#include "node/roles/following_role.hpp"
#include "node/roles/job_bench.hpp"

namespace assay::node {

struct BuyerOptions {
    program::JobSpec spec;  ///< complete, initial_root included
};

class BuyerRole final : public FollowingRole {
public:
    BuyerRole(const RoleParts& parts, BuyerOptions options);

    /// The job on the ledger; nothing before it is accepted.
    [[nodiscard]] const std::optional<base::Hash256>& job() const { return job_; }
    /// As the ledger last had it; nothing when it has ended and this home's history does not give it.
    /// REQUIRES job().
    [[nodiscard]] std::optional<contracts::Job> record() const { return contracts::read_job(state(), *job_); }

    /// Why there will be no job; nothing while there may be one.
    [[nodiscard]] const std::optional<LedgerRefusal>& refusal() const { return refusal_; }

private:
    /// With the owner's key it buys the job and is done; without, it serves the job that was bought.
    void plan() override;
    void buy();
    void serve_job();
    void serve(const contracts::Job& job);
    /// Before the job is on the ledger any refusal that does not pass by itself ends the purchase: whoever
    /// waits for the command can do something about it.
    void refused(const RefusedOffer& offer) override;
    /// The job of this spec and node key, running or ended: a restarted buyer goes on with it instead of
    /// buying twice, and the same beacon chain is never used for two jobs.
    void find_job();

    /// Bases of settled rounds, and the data once the job has ended, are served until their room is needed.
    void unpin_settled(const contracts::Job& job);

    BuyerOptions options_;
    BlobWants wants_;
    base::Hash256 secret_;
    std::optional<base::Hash256> job_;
    bool looked_back_ = false;  ///< through the jobs of before this process
    std::optional<LedgerRefusal> refusal_;
    std::uint32_t rounds_unpinned_ = 0;
};

}  // namespace assay::node
