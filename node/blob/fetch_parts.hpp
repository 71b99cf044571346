// SPDX-License-Identifier: Apache-2.0
// Gives fetch_blob() one attempt at a blob that several store together. Internal to node/blob.
#pragma once

#include "node/blob/fetch.hpp"

namespace assay::node {

/// Takes the part of `terms.share` from the last holder, who owes the blob, and of the others every chunk
/// that is lacking and that they have. Chunks are given to peers as they come. Success when the blob is
/// whole; kPartsLacking when the own part is here and others' are not; otherwise errors as of fetch_blob().
/// REQUIRES a share and a holder.
FetchEnd fetch_parts(BlobStore& store, const BlobId& id, const std::vector<Endpoint>& holders,
                     const ConnectHolder& connect, const std::stop_token& stop,
                     std::vector<HolderReport>* reports, const FetchTerms& terms);

// For both kinds of attempts.
FetchFailure by_store(const base::Error& error);
base::Failed<FetchFailure> stopped();
base::Outcome<void> check_size(const BlobId& id, const BlobDescription& description, const FetchTerms& terms);

}  // namespace assay::node
