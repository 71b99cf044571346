// SPDX-License-Identifier: Apache-2.0
// JobBench: everything a role needs in front of it before its worker can compute for a round: the job's data,
// the job open in the worker, and the base state that the round starts from.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/roles/blob_files.hpp"
#include "node/roles/requests.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// Blobs that are wanted, fetched once each, tried again after a pause when nobody served them.
class BlobWants {
public:
    BlobWants(const Seams& seams, BlobFiles& files, Requests& requests)
        : seams_(seams), files_(files), requests_(requests) {}

    /// The blob's file when it is here; otherwise sees to it that it is being fetched.
    std::optional<SharedDescriptor> want(const BlobId& id, const std::vector<Endpoint>& holders);
    /// Attempts on this blob that ended without it.
    [[nodiscard]] std::uint32_t failures(const BlobId& id) const;

private:
    struct Attempt {
        bool under_way = false;
        std::uint32_t failures = 0;
        std::uint64_t not_before_ns = 0;
    };
    Seams seams_;
    BlobFiles& files_;
    Requests& requests_;
    std::map<BlobId, Attempt> attempts_;
};

class JobBench {
public:
    JobBench(const Seams& seams, BlobFiles& files, Requests& requests, std::string chain_id)
        : seams_(seams),
          files_(files),
          requests_(requests),
          wants_(seams, files, requests),
          chain_id_(std::move(chain_id)) {}

    /// The base state of the job's running round when the worker is ready to compute from it; otherwise
    /// starts whatever is missing. REQUIRES that no request of the caller is at work in the worker.
    std::optional<SharedDescriptor> ready(const contracts::StateView& state, const contracts::Job& job);

    /// The job's data, and its base state unless that is the initial one: true when all of it is here,
    /// otherwise it is being fetched. Leaves the worker alone.
    bool gather(const contracts::StateView& state, const contracts::Job& job);

    /// Before bidding: whether the job's first state is all that its spec says. True at once for a job that
    /// starts from its seed. For one that starts from a file the buyer's word is not enough: data and file
    /// are fetched, the job is opened in the worker, and the file is checked against the root that the spec
    /// names; false until that is done, and for ever when it fails. REQUIRES as ready().
    bool vouched(const contracts::StateView& state, const contracts::Job& job);

    /// Blob id of the base state file of the running round, once ready() gave it.
    [[nodiscard]] std::optional<BlobId> base_blob(const contracts::Job& job) const;

    BlobWants& wants() { return wants_; }
    [[nodiscard]] const BlobWants& wants() const { return wants_; }

private:
    void open_in_worker(const contracts::StateView& state, const contracts::Job& job);
    void ask_initial(const contracts::StateView& state, const contracts::Job& job);
    void on_initial(const contracts::Job& job, const WorkerAnswered& answer);
    void refuse(const base::Hash256& job, const std::string& why);

    Seams seams_;
    BlobFiles& files_;
    Requests& requests_;
    BlobWants wants_;
    std::string chain_id_;
    std::optional<base::Hash256> open_job_;
    bool asking_ = false;                            ///< OpenJob or Initial is at work
    std::map<base::Hash256, BlobId> initial_blobs_;  ///< job -> base state of round 0, checked
    std::set<base::Hash256> refused_;  ///< jobs whose data or initial root are not what they say
};

}  // namespace assay::node
