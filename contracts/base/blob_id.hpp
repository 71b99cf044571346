// SPDX-License-Identifier: Apache-2.0
// A blob id names bytes by their content. Bytes are cut into pieces of 4 KiB. The hash of a chunk of 1 MiB is
// the Merkle root over its pieces, so that a peer can check each chunk of a download separately. The id is
// the Merkle root over the chunks' hashes. 256 pieces are a whole subtree, so the id is also the root of one
// tree over all pieces, and a single piece can be opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contracts/base/hash.hpp"
#include "contracts/base/merkle.hpp"

namespace assay::base {

/// Bytes of every chunk but the last, which has 1 to kBlobChunk bytes.
inline constexpr std::size_t kBlobChunk = std::size_t{1} << 20;
/// Bytes of every piece of a blob but the last, which has 1 to kBlobPiece bytes.
inline constexpr std::size_t kBlobPiece = std::size_t{4} << 10;

/// Merkle root over a chunk's pieces. REQUIRES 1 to kBlobChunk bytes.
Hash256 blob_chunk_hash(ByteView chunk);

/// The number of pieces of a blob of `size` bytes.
constexpr std::uint64_t blob_pieces(std::uint64_t size) {
    return size / kBlobPiece + (size % kBlobPiece != 0 ? 1 : 0);
}

/// Siblings of piece `index` of a blob of `size` bytes, inside its chunk and then from the chunk up to the
/// id. REQUIRES `chunk` to be the bytes of the chunk with that piece, and `chunk_hashes` the hashes of all
/// chunks.
InclusionProof prove_blob_piece(std::uint64_t size, const std::vector<Hash256>& chunk_hashes, ByteView chunk,
                                std::uint64_t index);

/// Whether `piece` is piece proof.index of the blob `id`, which has `size` bytes. The size must come from
/// what the parties agreed on (blob_sizes.hpp), never from the prover, because an id does not determine it.
bool check_blob_piece(const Hash256& id, std::uint64_t size, const InclusionProof& proof, ByteView piece);

/// Computes a blob id from bytes that come in pieces of any size; holds at most one chunk.
class BlobHasher {
public:
    BlobHasher& add(ByteView data);
    /// Hashes of the chunks, in order, the last (shorter) one included. Ends the computation; the object must
    /// not be used afterwards.
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
