// SPDX-License-Identifier: Apache-2.0
// Proofs that bytes are a piece of a blob, which come from whoever disputes: any bytes decode to a proof that
// encodes to the same bytes, and of the pieces of a blob none but its own stand under its id. An input is a
// byte that chooses the blob, the encoding of a proof, and the piece.
#include <algorithm>

#include "contracts/base/blob_id.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/codec.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

namespace {

/// As it comes: a proof and, as the rest of the list, the piece.
struct ShownPiece {
    base::InclusionProof proof;
    base::Bytes piece;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.proof, self.piece);
    }
};

struct Blob {
    base::Bytes bytes;
    std::vector<base::Hash256> chunks;
    base::Hash256 id;
    std::vector<base::Bytes> shown;  ///< encodings of the pieces that are tried
};

Blob blob_of(std::size_t size) {
    Blob blob;
    blob.bytes.resize(size);
    for (std::size_t i = 0; i < size; ++i) blob.bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 4096);
    for (std::size_t at = 0; at < size; at += base::kBlobChunk) {
        const std::size_t count = std::min(base::kBlobChunk, size - at);
        blob.chunks.push_back(base::blob_chunk_hash(base::ByteView(blob.bytes).subspan(at, count)));
    }
    blob.id = base::blob_id(blob.bytes);
    const std::uint64_t pieces = base::blob_pieces(size);
    for (const std::uint64_t index : {std::uint64_t{0}, pieces / 2, pieces - 1}) {
        const std::size_t chunk = index * base::kBlobPiece / base::kBlobChunk * base::kBlobChunk;
        const auto bytes =
            base::ByteView(blob.bytes).subspan(chunk, std::min(base::kBlobChunk, size - chunk));
        const std::size_t at = index * base::kBlobPiece;
        const auto piece = base::ByteView(blob.bytes).subspan(at, std::min(base::kBlobPiece, size - at));
        blob.shown.push_back(base::encode(
            ShownPiece{base::prove_blob_piece(size, blob.chunks, bytes, index), base::to_bytes(piece)}));
    }
    return blob;
}

const std::vector<Blob>& blobs() {
    static const std::vector<Blob> all = [] {
        std::vector<Blob> made;
        // One byte, one piece, a piece and a byte, one chunk, and a chunk and a little.
        for (const std::size_t size : {std::size_t{1}, base::kBlobPiece, base::kBlobPiece + 1,
                                       base::kBlobChunk, base::kBlobChunk + 3 * base::kBlobPiece + 7}) {
            made.push_back(blob_of(size));
        }
        return made;
    }();
    return all;
}

/// Whether the piece is the blob's own, said without any proof.
bool is_piece(const Blob& blob, std::uint64_t index, const base::Bytes& piece) {
    if (index >= base::blob_pieces(blob.bytes.size())) return false;
    const std::size_t at = index * base::kBlobPiece;
    const std::size_t count = std::min(base::kBlobPiece, blob.bytes.size() - at);
    const auto first = blob.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    return std::equal(first, first + static_cast<std::ptrdiff_t>(count), piece.begin(), piece.end());
}

}  // namespace

std::vector<base::Bytes> seeds() {
    std::vector<base::Bytes> out;
    for (std::size_t i = 0; i < blobs().size(); ++i) {
        for (const base::Bytes& shown : blobs()[i].shown) {
            base::Bytes input{static_cast<std::uint8_t>(i)};
            input.insert(input.end(), shown.begin(), shown.end());
            out.push_back(std::move(input));
        }
    }
    return out;
}

void run(base::ByteView input) {
    if (input.empty()) return;
    const Blob& blob = blobs()[input[0] % blobs().size()];
    const auto shown = base::decode<ShownPiece>(input.subspan(1));
    if (!shown.ok()) return;
    const base::Bytes again = base::encode(*shown);
    ASSAY_CHECK(std::equal(again.begin(), again.end(), input.begin() + 1, input.end()));
    const bool stands = base::check_blob_piece(blob.id, blob.bytes.size(), shown->proof, shown->piece);
    if (stands) {
        ASSAY_CHECK(is_piece(blob, shown->proof.index, shown->piece));
        ASSAY_CHECK(shown->proof.leaf_count == base::blob_pieces(blob.bytes.size()));
    }
    const bool own = std::find(blob.shown.begin(), blob.shown.end(), again) != blob.shown.end();
    if (own) ASSAY_CHECK(stands);
    // Under the id of another blob it never stands: their pieces differ in content or in place.
    for (const Blob& other : blobs()) {
        if (&other == &blob || is_piece(other, shown->proof.index, shown->piece)) continue;
        ASSAY_CHECK(!base::check_blob_piece(other.id, other.bytes.size(), shown->proof, shown->piece));
    }
}

}  // namespace assay::fuzz
