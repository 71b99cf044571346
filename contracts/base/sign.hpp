// SPDX-License-Identifier: Apache-2.0
// Keys and signatures: Ed25519 (RFC 8032; libsodium 1.0.18 decides the edge cases: small-order keys and
// non-canonical S are refused). A signature covers a domain and the chain id, so that it is valid for one
// purpose on one chain.
#pragma once

#include <array>
#include <compare>
#include <memory>
#include <string>
#include <string_view>

#include "contracts/base/bytes.hpp"
#include "contracts/base/hash.hpp"

namespace assay::base {

struct PublicKey {
    std::array<std::uint8_t, 32> bytes{};

    [[nodiscard]] ByteView view() const { return bytes; }
    [[nodiscard]] std::string hex() const { return to_hex(bytes); }
    [[nodiscard]] std::string brief() const { return hex().substr(0, 8); }
    [[nodiscard]] bool is_zero() const { return *this == PublicKey{}; }
    friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

std::optional<PublicKey> parse_public_key(std::string_view hex);

struct Signature {
    std::array<std::uint8_t, 64> bytes{};
    friend auto operator<=>(const Signature&, const Signature&) = default;
};

/// A secret key in guarded, locked memory, wiped when destroyed. Move-only.
class SecretKey {
public:
    /// From a 32-byte seed; the caller wipes its copy. REQUIRES seed.size() == 32.
    static SecretKey from_seed(ByteView seed);

    SecretKey(SecretKey&&) noexcept = default;
    SecretKey& operator=(SecretKey&&) noexcept = default;

    [[nodiscard]] const PublicKey& public_key() const { return public_key_; }
    /// The 32-byte seed, for writing an encrypted key file.
    [[nodiscard]] ByteView seed() const;
    /// Signs H("assay/sign", domain, chain id, message); each part is length-prefixed.
    [[nodiscard]] Signature sign(std::string_view domain, std::string_view chain_id, ByteView message) const;

private:
    struct Wipe {
        void operator()(std::uint8_t* bytes) const noexcept;
    };
    SecretKey() = default;
    std::unique_ptr<std::uint8_t[], Wipe> bytes_;  // 64 bytes, libsodium's layout: seed, public key
    PublicKey public_key_;
};

/// True when `signature` is that of `key` over exactly this domain, chain id and message.
bool verify(const PublicKey& key, const Signature& signature, std::string_view domain,
            std::string_view chain_id, ByteView message);

/// Must run once before anything else here; false when libsodium cannot start (no entropy source).
bool start_crypto();

}  // namespace assay::base
