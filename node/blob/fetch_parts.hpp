// SPDX-License-Identifier: Apache-2.0
// Gives fetch_blob() one attempt at a blob that several store together. Internal to node/blob.
#pragma once

#include "node/blob/fetch.hpp"

namespace assay::node {

/// Fetches the part of `terms.share` from the last holder, which owes the blob, and from the others every
/// missing chunk that they have. Serves chunks to peers as they come. Succeeds when the blob is whole;
/// kPartsLacking when the own part is here and others' parts are not; otherwise errors as for fetch_blob().
/// REQUIRES a share and at least one holder.
FetchEnd fetch_parts(BlobStore& store, const BlobId& id, const std::vector<Endpoint>& holders,
                     const ConnectHolder& connect, const std::stop_token& stop,
                     std::vector<HolderReport>* reports, const FetchTerms& terms);

// For both kinds of attempts.
FetchFailure by_store(const base::Error& error);
base::Failed<FetchFailure> stopped();
/// Refuses a description that cannot be of the blob, or of what it is wanted for.
base::Outcome<void> check_described(const BlobId& id, const BlobDescription& description,
                                    const FetchTerms& terms);
/// Makes a blob of a download that is whole, unless the store has the blob. kUnreachable when chunks are
/// missing: the blob had come from elsewhere, and was dropped before anybody could read it.
FetchEnd end_download(const BlobStore& store, const BlobId& id, PartialBlob& download);

}  // namespace assay::node
