// SPDX-License-Identifier: Apache-2.0
// Gives `assay audit model` the bytes that are at hand: from a home, from holders of a job's blobs, from the
// job file's own data, and what was recomputed in this run.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "node/audit/model_replay.hpp"
#include "node/blob/blob_store.hpp"
#include "node/cli/scratch_folder.hpp"

namespace assay::node {

class BytesAtHand {
public:
    /// `home`: the blobs of a home, or null. Makes a folder in the system's temporary folder for what is
    /// fetched and recomputed, and removes it on destruction.
    static base::Outcome<std::unique_ptr<BytesAtHand>> make(std::unique_ptr<BlobStore> home);

    /// Sets the holders that are asked for blobs that are nowhere else.
    void ask(std::vector<Endpoint> holders) { holders_ = std::move(holders); }
    /// Adds a file for a blob; the worker checks its content.
    void add(const base::Hash256& blob, frames::SharedDescriptor file) { files_[blob] = std::move(file); }

    frames::SharedDescriptor find(const base::Hash256& blob);
    /// REQUIRES that this outlives it.
    AuditBytes bytes();

private:
    BytesAtHand(std::unique_ptr<BlobStore> home, ScratchFolder folder, std::unique_ptr<BlobStore> scratch)
        : home_(std::move(home)), folder_(std::move(folder)), scratch_(std::move(scratch)) {}

    std::unique_ptr<BlobStore> home_;
    ScratchFolder folder_;
    std::unique_ptr<BlobStore> scratch_;
    std::vector<Endpoint> holders_;
    std::map<base::Hash256, frames::SharedDescriptor> files_;
    std::set<base::Hash256> not_served_;
};

}  // namespace assay::node
