// SPDX-License-Identifier: Apache-2.0
// Expected digests: Python's hashlib.blake2b(…, digest_size=32), those of trees from
// tests/vectors/personal_hashes.py.
#include "contracts/base/hash.hpp"

#include <algorithm>
#include <set>

#include "contracts/base/merkle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/personal_vectors.hpp"

namespace {
using namespace assay::base;

std::vector<Hash256> leaves(std::size_t count) {
    std::vector<Hash256> out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto byte = static_cast<std::uint8_t>(i);
        out.push_back(merkle_leaf({&byte, 1}));
    }
    return out;
}
}  // namespace

TEST_CASE("a tagged hash is BLAKE2b-256 of length, tag and data") {
    CHECK(hash("test/tag", as_bytes("abc")).hex() ==
          "f19aa9d6a24879b571a4cc1cadfc8a41b1e036110efc2d1c805f91fa18149972");
    CHECK(hash("test/tag", {}).hex() == "87f0d12744717e250021b510fd42b5b2a250c146e967fb5ca54a54613caa1e69");
    CHECK(Hasher("test/tag").add_u64(0x0102030405060708U).finish().hex() ==
          "423eaaf057104fd14e9e3efc1785013b6efd5b8aa850f9be85ec3c4a7d38efac");
    CHECK(Hasher("test/tag").add(as_bytes("a")).add(as_bytes("bc")).finish() ==
          hash("test/tag", as_bytes("abc")));
    CHECK(hash("test/tah", as_bytes("abc")) != hash("test/tag", as_bytes("abc")));
}

TEST_CASE("hashes are read back from 64 lower-case digits only") {
    const Hash256 value = hash("test/tag", as_bytes("abc"));
    CHECK(parse_hash(value.hex()) == value);
    CHECK_FALSE(parse_hash(value.hex().substr(2)));
    CHECK_FALSE(parse_hash(value.hex() + "00"));
    CHECK_FALSE(parse_hash("F" + value.hex().substr(1)));
    CHECK(Hash256{}.is_zero());
    CHECK_FALSE(value.is_zero());
}

TEST_CASE("CRC-32C gives the known answer") {
    CHECK(crc32c(as_bytes("123456789")) == 0xe3069283U);
    CHECK(crc32c({}) == 0U);
}

TEST_CASE("personalised digests are the known answers, of one message and of several") {
    const auto known = assay::test::personal_vectors();
    REQUIRE(known.size() == kPersonals.size() * 9);
    std::set<std::string> names;
    for (const auto& vector : known) {
        names.insert(vector.name);
        const ByteView message = vector.message;
        INFO(vector.name << ", length " << message.size());
        CHECK(std::count(kPersonals.begin(), kPersonals.end(), vector.personal) == 1);
        CHECK(merkle_leaf(vector.personal, message) == vector.digest);
        const std::size_t half = message.size() / 2;
        CHECK(personal_hash(vector.personal, message.first(half), message.subspan(half)) == vector.digest);
        std::vector<Hash256> found(2);
        hash_one_by_one({message.data(), message.size(), 0, 2, vector.personal}, found.data());
        CHECK(found == std::vector<Hash256>(2, vector.digest));
        CHECK(hash_from(vector.digest.view()) != hash("test/tag", message));
    }
    CHECK(names.size() == kPersonals.size());
    const auto node = std::find_if(known.begin(), known.end(), [](const auto& vector) {
        return vector.name == "assay/node" && vector.message.size() == 64;
    });
    REQUIRE(node != known.end());
    const ByteView both = node->message;
    CHECK(merkle_node(hash_from(both.first(32)), hash_from(both.last(32))) == node->digest);
}

TEST_CASE("Merkle trees have the structure of RFC 6962") {
    CHECK(merkle_empty_root().hex() == "9adcfeda1375d8eb05550d21f777141ce632f1e526dcf14ded0327e718a768a8");
    CHECK(merkle_root({}) == merkle_empty_root());
    CHECK(merkle_leaf(as_bytes("a")).hex() ==
          "844f56149ca6c3c33d6d3668ed56fd75ae9fd0be0c9703f7bbda8c0969093fdc");
    CHECK(merkle_root(leaves(1)) == leaves(1)[0]);
    std::size_t known = 0;
    assay::test::for_known("tree", [&](const std::string&, std::size_t count, const Hash256& root) {
        INFO(count << " leaves");
        CHECK(merkle_root(leaves(count)) == root);
        ++known;
    });
    CHECK(known == 5);
}

TEST_CASE("every leaf proves its place, and no other leaf, place, count or sibling list passes") {
    for (std::size_t count = 1; count <= 17; ++count) {
        const auto all = leaves(count);
        const Hash256 root = merkle_root(all);
        for (std::size_t i = 0; i < count; ++i) {
            const InclusionProof proof = merkle_prove(all, i);
            REQUIRE(merkle_verify(root, all[i], proof));
            CHECK_FALSE(merkle_verify(root, leaves(18)[17], proof));
            InclusionProof other = proof;
            other.index = count;
            CHECK_FALSE(merkle_verify(root, all[i], other));
            other = proof;
            other.siblings.push_back(root);
            CHECK_FALSE(merkle_verify(root, all[i], other));
            if (!proof.siblings.empty()) {
                other = proof;
                other.siblings.pop_back();
                CHECK_FALSE(merkle_verify(root, all[i], other));
                other = proof;
                other.siblings[0].bytes[31] ^= 1U;
                CHECK_FALSE(merkle_verify(root, all[i], other));
            }
            other = proof;
            other.index = i ^ 1U;
            if (other.index < count) CHECK_FALSE(merkle_verify(root, all[i], other));
        }
    }
}
