// SPDX-License-Identifier: Apache-2.0
// Blob ids against known answers (tests/vectors/personal_hashes.py, one tree over all pieces), and proofs of
// one piece against every change of a bit.
#include "contracts/base/blob_id.hpp"

#include <algorithm>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/personal_vectors.hpp"

namespace {
using namespace assay::base;
using assay::test::known_message;

std::vector<Hash256> chunk_hashes(ByteView blob) { return BlobHasher().add(blob).finish_leaves(); }

ByteView chunk_of(ByteView blob, std::uint64_t piece) {
    const std::size_t at = piece * kBlobPiece / kBlobChunk * kBlobChunk;
    return blob.subspan(at, std::min(kBlobChunk, blob.size() - at));
}

Bytes piece_of(ByteView blob, std::uint64_t piece) {
    const std::size_t at = piece * kBlobPiece;
    return to_bytes(blob.subspan(at, std::min(kBlobPiece, blob.size() - at)));
}

InclusionProof prove(ByteView blob, std::uint64_t piece) {
    return prove_blob_piece(blob.size(), chunk_hashes(blob), chunk_of(blob, piece), piece);
}

constexpr std::size_t kSizes[] = {1,
                                  kBlobPiece,
                                  kBlobPiece + 1,
                                  7 * kBlobPiece - 5,
                                  kBlobChunk,
                                  kBlobChunk + 1,
                                  2 * kBlobChunk + 3 * kBlobPiece + 7,
                                  3 * kBlobChunk};
}  // namespace

TEST_CASE("a blob id is the root of one tree over all pieces") {
    std::size_t known = 0;
    assay::test::for_known("blob", [&](const std::string&, std::size_t length, const Hash256& id) {
        INFO(length << " bytes");
        CHECK(blob_id(known_message(length)) == id);
        ++known;
    });
    CHECK(known == 9);
    CHECK(blob_id({}) == merkle_empty_root());
}

TEST_CASE("every kind of piece proves its place") {
    for (const std::size_t size : kSizes) {
        const Bytes blob = known_message(size);
        const Hash256 id = blob_id(blob);
        const std::uint64_t pieces = blob_pieces(size);
        for (const std::uint64_t piece : {std::uint64_t{0}, pieces / 2, pieces - 1}) {
            INFO(size << " bytes, piece " << piece);
            const InclusionProof proof = prove(blob, piece);
            REQUIRE(proof.leaf_count == pieces);
            REQUIRE(check_blob_piece(id, size, proof, piece_of(blob, piece)));
        }
    }
}

TEST_CASE("a piece of another place, length, size or content proves nothing") {
    std::mt19937 random(31);
    for (const std::size_t size : kSizes) {
        const Bytes blob = known_message(size);
        const Hash256 id = blob_id(blob);
        for (int repeat = 0; repeat < 40; ++repeat) {
            const std::uint64_t index = random() % blob_pieces(size);
            const InclusionProof proof = prove(blob, index);
            const Bytes piece = piece_of(blob, index);
            INFO(size << " bytes, piece " << index << ", repeat " << repeat);
            REQUIRE(check_blob_piece(id, size, proof, piece));
            Bytes other = piece;
            other[random() % other.size()] ^= static_cast<std::uint8_t>(1U << random() % 8);
            CHECK_FALSE(check_blob_piece(id, size, proof, other));
            other = piece;
            other.pop_back();
            CHECK_FALSE(check_blob_piece(id, size, proof, other));
            other = piece;
            other.push_back(0);
            CHECK_FALSE(check_blob_piece(id, size, proof, other));
            InclusionProof moved = proof;
            moved.index = random() % (2 * proof.leaf_count);
            if (moved.index != index) CHECK_FALSE(check_blob_piece(id, size, moved, piece));
            moved = proof;
            moved.leaf_count += random() % 2 == 0 ? 1 : std::uint64_t{0} - 1;
            CHECK_FALSE(check_blob_piece(id, size, moved, piece));
            moved = proof;
            moved.siblings.push_back(id);
            CHECK_FALSE(check_blob_piece(id, size, moved, piece));
            if (proof.siblings.empty()) continue;
            moved = proof;
            const std::size_t at = random() % moved.siblings.size();
            moved.siblings[at].bytes[random() % 32] ^= static_cast<std::uint8_t>(1U << random() % 8);
            CHECK_FALSE(check_blob_piece(id, size, moved, piece));
            moved = proof;
            moved.siblings.erase(moved.siblings.begin() + static_cast<std::ptrdiff_t>(at));
            CHECK_FALSE(check_blob_piece(id, size, moved, piece));
        }
    }
}

TEST_CASE("a proof under another number of pieces or of bytes in the last one proves nothing") {
    const Bytes blob = known_message(3 * kBlobPiece);
    const Hash256 id = blob_id(blob);
    // The last of three pieces has the path of the last of two: only the size tells them apart.
    const InclusionProof as_two{1, 2, prove(blob, 2).siblings};
    const Bytes last = piece_of(blob, 2);
    CHECK(merkle_verify(id, merkle_leaf(personal::kPiece, last), as_two));
    CHECK_FALSE(check_blob_piece(id, blob.size(), as_two, last));
    CHECK_FALSE(check_blob_piece(id, blob.size() - 1, prove(blob, 2), last));
    CHECK_FALSE(check_blob_piece(id, blob.size() + 1, prove(blob, 2), last));
    CHECK_FALSE(check_blob_piece(id, 0, {0, 0, {}}, {}));
    // A chunk's hash, a node of two pieces, is not a piece of 64 bytes.
    const Bytes two = known_message(2 * kBlobPiece);
    Bytes inside = to_bytes(merkle_leaf(personal::kPiece, piece_of(two, 0)).view());
    const Hash256 right = merkle_leaf(personal::kPiece, piece_of(two, 1));
    inside.insert(inside.end(), right.bytes.begin(), right.bytes.end());
    CHECK_FALSE(check_blob_piece(blob_id(two), inside.size(), {0, 1, {}}, inside));
}
