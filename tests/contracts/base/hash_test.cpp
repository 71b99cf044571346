// SPDX-License-Identifier: Apache-2.0
// Expected digests: Python's hashlib.blake2b(…, digest_size=32).
#include "contracts/base/hash.hpp"

#include "contracts/base/merkle.hpp"
#include "tests/support/catch.hpp"

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

TEST_CASE("Merkle trees have the structure of RFC 6962") {
    CHECK(merkle_empty_root().hex() == "9adcfeda1375d8eb05550d21f777141ce632f1e526dcf14ded0327e718a768a8");
    CHECK(merkle_root({}) == merkle_empty_root());
    CHECK(merkle_leaf(as_bytes("a")).hex() ==
          "7234082e1dd0b5ec0acd71875d61c9f374af30c100bc4de7aa4eb3f15bbed686");
    CHECK(merkle_root(leaves(1)) == leaves(1)[0]);
    CHECK(merkle_root(leaves(5)).hex() == "d189ac817a2f095408bea113eb0c5b6ba55cbafea7cd71378de9152f3b5d3246");
    CHECK(merkle_root(leaves(7)).hex() == "9a32133fb577b45268f6dcb813645347b5955c4b19e56b7474197a31e75a6a5f");
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
