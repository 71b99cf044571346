// SPDX-License-Identifier: Apache-2.0
// Gives roles and commands the fetching of a blob from whoever has it, believing nobody.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/blob/blob_store.hpp"
#include "node/seams/blob_service.hpp"
#include "node/seams/fetch_end.hpp"

namespace assay::node {

/// Makes the client of one holder; called again for each attempt.
using ConnectHolder = std::function<base::Outcome<std::unique_ptr<BlobService>>(const Endpoint&)>;

/// What one holder did, for the log and the reputation of peers.
struct HolderReport {
    Endpoint holder;
    std::uint64_t chunks = 0;  ///< verified chunks it gave
    std::optional<base::Error> failure;
};

/// Brings `id` into `store`, taking the holders in turn: each continues where the last one failed. Returns
/// success at once when the store has it. Otherwise kNotServed: kNotFound when no holder has it, else the
/// last error; kBusy when one of them, or our own clients' quota, was full; or kOwnStore or kOwnMachine at
/// the first trouble of our own, which no other holder would mend. With a size or a most in `terms`, a holder
/// that describes the blob with another, or with more, gives nothing: kVerification. A holder slower than
/// `terms` allow is left for the next one. With a share in `terms` one attempt at parts is made, and
/// kPartsLacking is another way in which it ends (node/blob/parts.hpp).
FetchEnd fetch_blob(BlobStore& store, const BlobId& id, const std::vector<Endpoint>& holders,
                    const ConnectHolder& connect, std::stop_token stop = {},
                    std::vector<HolderReport>* reports = nullptr, const FetchTerms& terms = {});

}  // namespace assay::node
