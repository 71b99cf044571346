// SPDX-License-Identifier: Apache-2.0
// Gives `assay audit model` the bytes that are at hand: from a home, from holders of a job's blobs, from the
// job file's own data, and what was recomputed in this run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "node/audit/model_replay.hpp"
#include "node/blob/blob_store.hpp"
#include "node/cli/scratch_folder.hpp"
#include "node/rpc/client.hpp"

namespace assay::node {

/// The options of a client of this holder.
using HolderClient = std::function<ClientOptions(const Endpoint& holder)>;

class BytesAtHand {
public:
    /// `home`: the blobs of a home, or null. Makes a folder in the system's temporary folder for what is
    /// fetched and recomputed, and removes it on destruction. `client` makes the options for a holder's
    /// client; `quota`: most bytes of the blobs in that folder.
    static base::Outcome<std::unique_ptr<BytesAtHand>> make(
        std::unique_ptr<BlobStore> home, HolderClient client,
        std::uint64_t quota = BlobStoreOptions{}.quota_bytes);

    /// Sets the holders that are asked for blobs that are nowhere else.
    void ask(std::vector<Endpoint> holders) { holders_ = std::move(holders); }
    /// Adds a file for a blob; the worker checks its content.
    void add(const base::Hash256& blob, frames::SharedDescriptor file) { files_[blob] = std::move(file); }

    /// Null when it is not at hand, whatever the reason; when this machine is the reason, own_failure() says
    /// it.
    frames::SharedDescriptor find(const base::Hash256& blob);
    /// The first fault of our own that kept a blob away: nobody else is to be blamed for what is missing.
    [[nodiscard]] const std::optional<base::Error>& own_failure() const { return own_failure_; }
    /// REQUIRES that this outlives it.
    AuditBytes bytes();

private:
    BytesAtHand(std::unique_ptr<BlobStore> home, ScratchFolder folder, std::unique_ptr<BlobStore> scratch,
                HolderClient client)
        : home_(std::move(home)),
          folder_(std::move(folder)),
          scratch_(std::move(scratch)),
          client_(std::move(client)) {}

    std::unique_ptr<BlobStore> home_;
    ScratchFolder folder_;
    std::unique_ptr<BlobStore> scratch_;
    HolderClient client_;
    std::vector<Endpoint> holders_;
    std::map<base::Hash256, frames::SharedDescriptor> files_;
    std::set<base::Hash256> not_served_;
    std::optional<base::Error> own_failure_;
};

}  // namespace assay::node
