// SPDX-License-Identifier: Apache-2.0
// Gives whoever stores, sends or fetches bytes the blob id: the name of a run of bytes by its content, a
// Merkle root (merkle.hpp) over chunks of 1 MiB, so that a peer can check each chunk of a download by
// itself.
#pragma once

#include <cstddef>
#include <vector>

#include "contracts/base/hash.hpp"

namespace assay::base {

/// Bytes of every chunk but the last, which has 1 to kBlobChunk bytes.
inline constexpr std::size_t kBlobChunk = std::size_t{1} << 20;

/// Computes a blob id from bytes that come in pieces of any size; holds at most one chunk.
class BlobHasher {
public:
    BlobHasher& add(ByteView data);
    /// Leaf hashes of the chunks, in order, the last (shorter) one included. Ends the computation; the
    /// object must not be used afterwards.
    [[nodiscard]] std::vector<Hash256> finish_leaves();
    /// merkle_root(finish_leaves()). Ends the computation.
    [[nodiscard]] Hash256 finish();

private:
    Bytes partial_;
    std::vector<Hash256> leaves_;
};

/// Blob id of bytes in memory. No bytes: merkle_empty_root().
Hash256 blob_id(ByteView data);

}  // namespace assay::base
