// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/blob_id.hpp"

#include <algorithm>
#include <utility>

#include "contracts/base/check.hpp"

namespace assay::base {

namespace {
constexpr std::uint64_t kChunkPieces = kBlobChunk / kBlobPiece;
// A chunk is a whole subtree of the tree over all pieces only if its pieces are a power of two.
static_assert(kBlobChunk % kBlobPiece == 0 && (kChunkPieces & (kChunkPieces - 1)) == 0);

std::vector<Hash256> piece_hashes(ByteView chunk) {
    ASSAY_CHECK(!chunk.empty() && chunk.size() <= kBlobChunk);
    std::vector<Hash256> hashes;
    hashes.reserve(blob_pieces(chunk.size()));
    for (std::size_t at = 0; at < chunk.size(); at += kBlobPiece) {
        hashes.push_back(
            merkle_leaf(personal::kPiece, chunk.subspan(at, std::min(kBlobPiece, chunk.size() - at))));
    }
    return hashes;
}
}  // namespace

Hash256 blob_chunk_hash(ByteView chunk) { return merkle_root(piece_hashes(chunk)); }

InclusionProof prove_blob_piece(std::uint64_t size, const std::vector<Hash256>& chunk_hashes, ByteView chunk,
                                std::uint64_t index) {
    const std::uint64_t at = index / kChunkPieces;
    ASSAY_CHECK(index < blob_pieces(size) && chunk_hashes.size() == (size + kBlobChunk - 1) / kBlobChunk);
    ASSAY_CHECK(chunk.size() == std::min<std::uint64_t>(kBlobChunk, size - at * kBlobChunk));
    InclusionProof proof = merkle_prove(piece_hashes(chunk), index % kChunkPieces);
    const InclusionProof above = merkle_prove(chunk_hashes, at);
    proof.index = index;
    proof.leaf_count = blob_pieces(size);
    proof.siblings.insert(proof.siblings.end(), above.siblings.begin(), above.siblings.end());
    return proof;
}

bool check_blob_piece(const Hash256& id, std::uint64_t size, const InclusionProof& proof, ByteView piece) {
    if (proof.leaf_count != blob_pieces(size) || proof.index >= proof.leaf_count) return false;
    const std::uint64_t rest = size - proof.index * kBlobPiece;
    if (piece.size() != std::min<std::uint64_t>(kBlobPiece, rest)) return false;
    return merkle_verify(id, merkle_leaf(personal::kPiece, piece), proof);
}

BlobHasher& BlobHasher::add(ByteView data) {
    while (!data.empty()) {
        if (partial_.empty() && data.size() >= kBlobChunk) {  // whole chunks are hashed where they lie
            leaves_.push_back(blob_chunk_hash(data.first(kBlobChunk)));
            data = data.subspan(kBlobChunk);
            continue;
        }
        const std::size_t taken = std::min(data.size(), kBlobChunk - partial_.size());
        const ByteView head = data.first(taken);
        partial_.insert(partial_.end(), head.begin(), head.end());
        data = data.subspan(taken);
        if (partial_.size() == kBlobChunk) {
            leaves_.push_back(blob_chunk_hash(partial_));
            partial_.clear();
        }
    }
    return *this;
}

std::vector<Hash256> BlobHasher::finish_leaves() {
    if (!partial_.empty()) leaves_.push_back(blob_chunk_hash(partial_));
    partial_.clear();
    return std::move(leaves_);
}

Hash256 BlobHasher::finish() { return merkle_root(finish_leaves()); }

Hash256 blob_id(ByteView data) { return BlobHasher().add(data).finish(); }

}  // namespace assay::base
