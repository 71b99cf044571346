// SPDX-License-Identifier: Apache-2.0
// The hash of everything that is named, sealed or signed: BLAKE2b-256 (RFC 7693) with a tag for each use, so
// that a hash for one purpose is never valid for another.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "contracts/base/bytes.hpp"
#include "contracts/base/personal.hpp"

namespace assay::base {

/// 32 bytes that name something. All zero means "none".
struct Hash256 {
    std::array<std::uint8_t, 32> bytes{};

    [[nodiscard]] ByteView view() const { return bytes; }
    [[nodiscard]] std::string hex() const { return to_hex(bytes); }
    /// The first eight hexadecimal digits, for people.
    [[nodiscard]] std::string brief() const { return hex().substr(0, 8); }
    [[nodiscard]] bool is_zero() const { return *this == Hash256{}; }
    friend auto operator<=>(const Hash256&, const Hash256&) = default;
};

/// Reads 64 lower-case hexadecimal digits.
std::optional<Hash256> parse_hash(std::string_view hex);

/// Copies 32 bytes; REQUIRES bytes.size() == 32.
Hash256 hash_from(ByteView bytes);

/// Incremental BLAKE2b-256 without personalisation. The digest covers `u8 length of tag, tag, data…`; a tag
/// has 2 to 63 bytes.
class Hasher {
public:
    explicit Hasher(std::string_view tag);
    Hasher& add(ByteView data);
    Hasher& add_u64(std::uint64_t value);  ///< eight bytes, little-endian
    Hasher& add(const Hash256& hash) { return add(hash.view()); }
    /// Ends the computation; the object must not be used afterwards.
    [[nodiscard]] Hash256 finish();

private:
    friend Hash256 personal_hash(const Personal& personal, ByteView first, ByteView second);
    explicit Hasher(const Personal& personal);
    alignas(64) std::array<std::uint8_t, 384> state_;  // libsodium's crypto_generichash_state
};

/// Hash of one run of bytes under a tag.
Hash256 hash(std::string_view tag, ByteView data);

/// BLAKE2b-256 of `first ‖ second` under a personalisation, without a tag: only for Merkle trees.
Hash256 personal_hash(const Personal& personal, ByteView first, ByteView second = {});

/// `count` messages of `length` bytes each, `stride` bytes apart, under one personalisation.
struct MessageBatch {
    const std::uint8_t* data = nullptr;
    std::size_t length = 0;
    std::size_t stride = 0;
    std::size_t count = 0;
    Personal personal{};
};

/// Writes BLAKE2b-256 of each message of a batch to out[0 … count).
using BatchHash = void (*)(const MessageBatch& messages, Hash256* out);

/// Hashes one message after the other. Code with vector instructions may hash several at a time, with the
/// same digests.
void hash_one_by_one(const MessageBatch& messages, Hash256* out);

/// CRC-32C (Castagnoli), to detect accidental damage on disk; never for security.
std::uint32_t crc32c(ByteView data);

}  // namespace assay::base
