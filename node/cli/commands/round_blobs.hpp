// SPDX-License-Identifier: Apache-2.0
// Gives `assay audit replay --fetch` the blobs of a round that a home lacks, from those whom the ledger
// names.
#pragma once

#include <set>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/blob/blob_store.hpp"
#include "node/cli/context.hpp"

namespace assay::node {

/// Who may serve blobs of this round, each once, in the order in which they are asked: the job's verifiers,
/// its buyer, then the round's miners.
std::vector<Endpoint> holders_of_round(const contracts::StateView& state, const contracts::Job& job,
                                       std::uint32_t round);

class RoundBlobs {
public:
    /// `context` and `store` must outlive it.
    RoundBlobs(const Context& context, BlobStore& store, std::vector<Endpoint> holders)
        : context_(context), store_(store), holders_(std::move(holders)) {}

    /// Fetches a blob into the store, every chunk verified, and says so on stderr. Errors as of BringBlob
    /// (node/audit/replay.hpp). A blob that nobody served is asked for once.
    base::Outcome<void> bring(const BlobId& id);

private:
    const Context& context_;
    BlobStore& store_;
    std::vector<Endpoint> holders_;
    std::set<BlobId> not_served_;
};

}  // namespace assay::node
