// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/sign.hpp"

#include <sodium.h>

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/base/verified_signatures.hpp"

namespace assay::base {

namespace {
Hash256 signing_hash(std::string_view domain, std::string_view chain_id, ByteView message) {
    Hasher hasher("assay/sign");
    hasher.add_u64(domain.size()).add(as_bytes(domain));
    hasher.add_u64(chain_id.size()).add(as_bytes(chain_id));
    hasher.add_u64(message.size()).add(message);
    return hasher.finish();
}
}  // namespace

bool start_crypto() { return sodium_init() >= 0; }

std::optional<PublicKey> parse_public_key(std::string_view hex) {
    const auto bytes = from_hex(hex);
    if (!bytes || bytes->size() != 32) return std::nullopt;
    PublicKey key;
    std::copy(bytes->begin(), bytes->end(), key.bytes.begin());
    return key;
}

void SecretKey::Wipe::operator()(std::uint8_t* bytes) const noexcept { sodium_free(bytes); }

SecretKey SecretKey::from_seed(ByteView seed) {
    ASSAY_CHECK(seed.size() == crypto_sign_SEEDBYTES);
    SecretKey key;
    key.bytes_.reset(static_cast<std::uint8_t*>(sodium_malloc(crypto_sign_SECRETKEYBYTES)));
    ASSAY_CHECK(key.bytes_ != nullptr);
    crypto_sign_seed_keypair(key.public_key_.bytes.data(), key.bytes_.get(), seed.data());
    return key;
}

ByteView SecretKey::seed() const { return {bytes_.get(), crypto_sign_SEEDBYTES}; }

Signature SecretKey::sign(std::string_view domain, std::string_view chain_id, ByteView message) const {
    const Hash256 digest = signing_hash(domain, chain_id, message);
    Signature signature;
    crypto_sign_detached(signature.bytes.data(), nullptr, digest.bytes.data(), digest.bytes.size(),
                         bytes_.get());
    if (VerifiedSignatures* const known = VerifiedSignatures::of_this_thread())
        known->remember({digest, public_key(), signature});
    return signature;
}

bool verify(const PublicKey& key, const Signature& signature, std::string_view domain,
            std::string_view chain_id, ByteView message) {
    const Hash256 digest = signing_hash(domain, chain_id, message);
    VerifiedSignatures* const known = VerifiedSignatures::of_this_thread();
    if (known != nullptr && known->knows({digest, key, signature})) return true;
    const bool right = crypto_sign_verify_detached(signature.bytes.data(), digest.bytes.data(),
                                                   digest.bytes.size(), key.bytes.data()) == 0;
    if (right && known != nullptr) known->remember({digest, key, signature});
    return right;
}

}  // namespace assay::base
