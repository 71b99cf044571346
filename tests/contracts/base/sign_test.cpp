// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/sign.hpp"

#include "contracts/base/verified_signatures.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::base;

SecretKey key_of(std::string_view seed_hex) { return SecretKey::from_seed(*from_hex(seed_hex)); }
constexpr std::string_view kSeed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
}  // namespace

TEST_CASE("seeds give the public keys of RFC 8032") {
    CHECK(key_of(kSeed).public_key().hex() ==
          "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    CHECK(key_of("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").public_key().hex() ==
          "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    CHECK(to_hex(key_of(kSeed).seed()) == kSeed);
}

TEST_CASE("a signature holds for its key, domain, chain and message only") {
    const SecretKey key = key_of(kSeed);
    const auto message = as_bytes("pay 5");
    const Signature signature = key.sign("transaction", "devnet", message);
    CHECK(key.sign("transaction", "devnet", message) == signature);
    CHECK(verify(key.public_key(), signature, "transaction", "devnet", message));
    CHECK_FALSE(verify(key.public_key(), signature, "block", "devnet", message));
    CHECK_FALSE(verify(key.public_key(), signature, "transaction", "mainnet", message));
    CHECK_FALSE(verify(key.public_key(), signature, "transaction", "devnet", as_bytes("pay 6")));
    // The border between the parts is signed too.
    CHECK_FALSE(verify(key.public_key(), signature, "transactiond", "evnet", message));
    const SecretKey other = key_of("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    CHECK_FALSE(verify(other.public_key(), signature, "transaction", "devnet", message));
    for (std::size_t i = 0; i < signature.bytes.size(); ++i) {
        Signature damaged = signature;
        damaged.bytes[i] ^= 1U;
        CHECK_FALSE(verify(key.public_key(), damaged, "transaction", "devnet", message));
    }
}

TEST_CASE("small-order keys and non-canonical S are refused") {
    const auto message = as_bytes("m");
    PublicKey identity;
    identity.bytes[0] = 1;
    Signature zero;
    zero.bytes[0] = 1;  // R = identity, S = 0: holds for every message in a careless verifier
    CHECK_FALSE(verify(identity, zero, "transaction", "devnet", message));
    const SecretKey key = key_of(kSeed);
    Signature signature = key.sign("transaction", "devnet", message);
    // S + L, the group order 2^252 + 27742317777372353535851937790883648493, little-endian.
    const auto order = *from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    unsigned carry = 0;
    for (std::size_t i = 0; i < 32; ++i) {
        const unsigned sum = signature.bytes[32 + i] + order[i] + carry;
        signature.bytes[32 + i] = static_cast<std::uint8_t>(sum);
        carry = sum >> 8;
    }
    CHECK_FALSE(verify(key.public_key(), signature, "transaction", "devnet", message));
}

TEST_CASE("public keys are read from 64 lower-case digits only") {
    const std::string hex = key_of(kSeed).public_key().hex();
    CHECK(parse_public_key(hex) == key_of(kSeed).public_key());
    CHECK_FALSE(parse_public_key(hex + "aa"));
    CHECK_FALSE(parse_public_key("D" + hex.substr(1)));
}

TEST_CASE("a signature that was verified once is known whole, and nothing near it is") {
    const SecretKey key = key_of(kSeed);
    const SecretKey other = key_of("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    const auto message = as_bytes("pay 5");
    const Signature signature = key.sign("transaction", "devnet", message);
    CHECK(VerifiedSignatures::of_this_thread() == nullptr);
    {
        const VerifiedSignatures remembered;
        CHECK(VerifiedSignatures::of_this_thread() == &remembered);
        for (int again = 0; again < 2; ++again) {
            CHECK(verify(key.public_key(), signature, "transaction", "devnet", message));
            CHECK_FALSE(verify(other.public_key(), signature, "transaction", "devnet", message));
            CHECK_FALSE(verify(key.public_key(), signature, "transaction", "devnet", as_bytes("pay 6")));
            Signature damaged = signature;
            damaged.bytes.back() ^= 1U;
            CHECK_FALSE(verify(key.public_key(), damaged, "transaction", "devnet", message));
        }
        // What the thread signs itself is known at once.
        const Signature own = key.sign("transaction", "devnet", as_bytes("pay 7"));
        CHECK(verify(key.public_key(), own, "transaction", "devnet", as_bytes("pay 7")));
        CHECK_FALSE(verify(other.public_key(), own, "transaction", "devnet", as_bytes("pay 7")));
        CHECK_FALSE(verify(key.public_key(), own, "block", "devnet", as_bytes("pay 7")));
        CHECK_FALSE(verify(key.public_key(), own, "transaction", "devnet", message));
        const VerifiedSignatures inner;
        CHECK(VerifiedSignatures::of_this_thread() == &inner);
    }
    CHECK(VerifiedSignatures::of_this_thread() == nullptr);
}
