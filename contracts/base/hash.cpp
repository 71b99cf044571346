// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/hash.hpp"

#include <sodium.h>

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::base {

namespace {
crypto_generichash_state* state_of(std::array<std::uint8_t, 384>& storage) {
    static_assert(sizeof(crypto_generichash_state) <= 384);
    static_assert(crypto_generichash_blake2b_PERSONALBYTES == sizeof(Personal::bytes));
    return reinterpret_cast<crypto_generichash_state*>(storage.data());
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0x82f63b78U : 0U);
        table[i] = value;
    }
    return table;
}
}  // namespace

std::optional<Hash256> parse_hash(std::string_view hex) {
    const auto bytes = from_hex(hex);
    if (!bytes || bytes->size() != 32) return std::nullopt;
    return hash_from(*bytes);
}

Hash256 hash_from(ByteView bytes) {
    ASSAY_CHECK(bytes.size() == 32);
    Hash256 hash;
    std::copy(bytes.begin(), bytes.end(), hash.bytes.begin());
    return hash;
}

Hasher::Hasher(const Personal& personal) {
    crypto_generichash_blake2b_init_salt_personal(state_of(state_), nullptr, 0, 32, nullptr,
                                                  personal.bytes.data());
}

Hasher::Hasher(std::string_view tag) : Hasher(Personal{}) {
    ASSAY_CHECK(tag.size() >= 2 && tag.size() < 64);
    const auto length = static_cast<std::uint8_t>(tag.size());
    add({&length, 1});
    add(as_bytes(tag));
}

Hasher& Hasher::add(ByteView data) {
    crypto_generichash_update(state_of(state_), data.data(), data.size());
    return *this;
}

Hasher& Hasher::add_u64(std::uint64_t value) {
    std::array<std::uint8_t, 8> bytes{};
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
    return add(bytes);
}

Hash256 Hasher::finish() {
    Hash256 digest;
    crypto_generichash_final(state_of(state_), digest.bytes.data(), digest.bytes.size());
    return digest;
}

Hash256 hash(std::string_view tag, ByteView data) { return Hasher(tag).add(data).finish(); }

Hash256 personal_hash(const Personal& personal, ByteView first, ByteView second) {
    return Hasher(personal).add(first).add(second).finish();
}

void hash_one_by_one(const MessageBatch& messages, Hash256* out) {
    for (std::size_t i = 0; i < messages.count; ++i) {
        crypto_generichash_blake2b_salt_personal(out[i].bytes.data(), out[i].bytes.size(),
                                                 messages.data + i * messages.stride, messages.length,
                                                 nullptr, 0, nullptr, messages.personal.bytes.data());
    }
}

std::uint32_t crc32c(ByteView data) {
    static constexpr auto kTable = make_crc_table();
    std::uint32_t crc = 0xffffffffU;
    for (const std::uint8_t byte : data) crc = kTable[(crc ^ byte) & 0xffU] ^ (crc >> 8);
    return crc ^ 0xffffffffU;
}

}  // namespace assay::base
