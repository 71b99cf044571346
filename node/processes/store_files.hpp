// SPDX-License-Identifier: Apache-2.0
// Gives a role its blob store as files (node/seams/blob_files.hpp).
#pragma once

#include <memory>

#include "node/blob/blob_store.hpp"
#include "node/seams/blob_files.hpp"

namespace assay::node {

/// Wraps `store`, which must outlive the result.
std::unique_ptr<BlobFiles> make_blob_files(BlobStore& store);

}  // namespace assay::node
