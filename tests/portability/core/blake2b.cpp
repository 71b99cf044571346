// SPDX-License-Identifier: Apache-2.0
// BLAKE2b as RFC 7693 has it, with the parameter block's personalisation, under the names of libsodium that
// contracts/base/hash.cpp calls: a program for another processor then needs no package of that processor, and
// libsodium's hash has a second opinion.
#include <sodium.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t kBlock = 128;
constexpr std::array<std::uint64_t, 8> kStart = {
    0x6a09e667f3bcc908U, 0xbb67ae8584caa73bU, 0x3c6ef372fe94f82bU, 0xa54ff53a5f1d36f1U,
    0x510e527fade682d1U, 0x9b05688c2b3e6c1fU, 0x1f83d9abfb41bd6bU, 0x5be0cd19137e2179U};
constexpr std::array<std::array<std::uint8_t, 16>, 10> kOrder = {{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

struct Blake2b {
    std::array<std::uint64_t, 8> h;
    std::uint64_t length;  // bytes compressed and waiting
    std::size_t waiting;
    std::array<std::uint8_t, kBlock> block;
};
static_assert(sizeof(Blake2b) <= sizeof(crypto_generichash_state));

Blake2b& of(crypto_generichash_state* state) { return *reinterpret_cast<Blake2b*>(state); }

void compress(Blake2b& state, bool last) {
    std::array<std::uint64_t, 16> m{};
    std::memcpy(m.data(), state.block.data(), kBlock);  // little-endian machines only, as all we run on
    static_assert(std::endian::native == std::endian::little);
    std::array<std::uint64_t, 16> v{};
    for (std::size_t i = 0; i < 8; ++i) {
        v[i] = state.h[i];
        v[i + 8] = kStart[i];
    }
    v[12] ^= state.length;
    if (last) v[14] = ~v[14];
    const auto mix = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::uint64_t x,
                         std::uint64_t y) {
        v[a] = v[a] + v[b] + x;
        v[d] = std::rotr(v[d] ^ v[a], 32);
        v[c] = v[c] + v[d];
        v[b] = std::rotr(v[b] ^ v[c], 24);
        v[a] = v[a] + v[b] + y;
        v[d] = std::rotr(v[d] ^ v[a], 16);
        v[c] = v[c] + v[d];
        v[b] = std::rotr(v[b] ^ v[c], 63);
    };
    for (std::size_t round = 0; round < 12; ++round) {
        const auto& s = kOrder[round % 10];
        for (std::size_t i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
        for (std::size_t i = 0; i < 4; ++i) {
            mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
        }
    }
    for (std::size_t i = 0; i < 8; ++i) state.h[i] ^= v[i] ^ v[i + 8];
}

}  // namespace

int crypto_generichash_blake2b_init_salt_personal(crypto_generichash_state* state, const unsigned char*,
                                                  const size_t, const size_t length, const unsigned char*,
                                                  const unsigned char* personal) {
    Blake2b& own = of(state);
    own = {kStart, 0, 0, {}};
    own.h[0] ^= 0x01010000U ^ length;  // no key
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), personal, sizeof(words));
    for (std::size_t i = 0; i < 2; ++i) own.h[6 + i] ^= words[i];  // no salt before it
    return 0;
}

int crypto_generichash_update(crypto_generichash_state* state, const unsigned char* data,
                              unsigned long long length) {
    Blake2b& own = of(state);
    while (length > 0) {
        if (own.waiting == kBlock) {  // a full block waits until it is known not to be the last
            compress(own, false);
            own.waiting = 0;
        }
        const auto part = std::min<unsigned long long>(length, kBlock - own.waiting);
        std::memcpy(own.block.data() + own.waiting, data, part);
        own.waiting += part;
        own.length += part;
        data += part;
        length -= part;
    }
    return 0;
}

int crypto_generichash_final(crypto_generichash_state* state, unsigned char* out, const size_t length) {
    Blake2b& own = of(state);
    std::fill(own.block.begin() + static_cast<std::ptrdiff_t>(own.waiting), own.block.end(), std::uint8_t{0});
    compress(own, true);
    std::memcpy(out, own.h.data(), length);
    return 0;
}

int crypto_generichash_blake2b_salt_personal(unsigned char* out, const size_t out_length,
                                             const unsigned char* data, const unsigned long long length,
                                             const unsigned char*, const size_t, const unsigned char*,
                                             const unsigned char* personal) {
    crypto_generichash_state state;
    crypto_generichash_blake2b_init_salt_personal(&state, nullptr, 0, out_length, nullptr, personal);
    crypto_generichash_update(&state, data, length);
    return crypto_generichash_final(&state, out, out_length);
}
