// SPDX-License-Identifier: Apache-2.0
// Gives roles and commands fetch_blob(), which fetches a blob from holders that it does not trust.
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

/// Fetches `id` into `store` from the holders in turn; each continues where the last one failed. Succeeds at
/// once when the store has it. Its failures: kNotServed when no holder served it, with kind kNotFound when
/// none has it, else the last error; kBusy when a holder had no room or our clients' quota was used up;
/// kOwnStore or kOwnMachine at the first failure of our own, which no other holder could help. A holder that
/// describes the blob with another size than `terms.size`, or with more than `terms.most`, is refused with
/// kVerification. A holder slower than `terms` allow is left for the next one. With a share in `terms`, makes
/// one attempt at parts, which can also end with kPartsLacking (node/blob/parts.hpp).
FetchEnd fetch_blob(BlobStore& store, const BlobId& id, const std::vector<Endpoint>& holders,
                    const ConnectHolder& connect, std::stop_token stop = {},
                    std::vector<HolderReport>* reports = nullptr, const FetchTerms& terms = {});

}  // namespace assay::node
