// SPDX-License-Identifier: Apache-2.0
// BLAKE2b-256 without a key (RFC 7693) of several messages of one length at a time, one message in each lane.
// A tile's leaf is eight blocks, each of which needs the result of the one before, so only different messages
// can be hashed in parallel. With AVX-512 that is three times as fast as libsodium, which hashes one message
// at a time; with the 16 registers of AVX2 it would be slower, so there is no version for AVX2. Included once
// inside a target's namespace: no guard.

using DW = hn::ScalableTag<std::uint64_t>;
using VW = hn::Vec<DW>;
inline constexpr std::size_t kWords = 8;
static_assert(hn::MaxLanes(DW()) == kWords);

inline constexpr std::size_t kHashBlock = 128;
inline constexpr std::size_t kBlockWords = kHashBlock / 8;

inline constexpr std::uint64_t kHashStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                                0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                                0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/// RFC 7693 §2.7; rounds 10 and 11 are those of 0 and 1.
inline constexpr std::uint8_t kHashOrder[10][kBlockWords] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

HWY_INLINE void hash_mix(VW& a, VW& b, VW& c, VW& d, VW x, VW y) {
    a = hn::Add(hn::Add(a, b), x);
    d = hn::RotateRight<32>(hn::Xor(d, a));
    c = hn::Add(c, d);
    b = hn::RotateRight<24>(hn::Xor(b, c));
    a = hn::Add(hn::Add(a, b), y);
    d = hn::RotateRight<16>(hn::Xor(d, a));
    c = hn::Add(c, d);
    b = hn::RotateRight<63>(hn::Xor(b, c));
}

// `words`: word w of lane l at w · kWords + l. `bytes`: length of the message up to the end of this block.
inline void hash_compress(VW (&h)[8], const std::uint64_t* words, std::uint64_t bytes, bool last) {
    const auto start = [](std::size_t i) HWY_ATTR { return hn::Set(DW(), kHashStart[i]); };
    VW v0 = h[0], v1 = h[1], v2 = h[2], v3 = h[3], v4 = h[4], v5 = h[5], v6 = h[6], v7 = h[7];
    VW v8 = start(0), v9 = start(1), va = start(2), vb = start(3);
    VW vc = hn::Xor(start(4), hn::Set(DW(), bytes)), vd = start(5);
    VW ve = last ? hn::Not(start(6)) : start(6), vf = start(7);
    for (std::size_t round = 0; round < 12; ++round) {
        const std::uint8_t* order = kHashOrder[round < 10 ? round : round - 10];
        const auto m = [&](std::size_t i) HWY_ATTR { return hn::Load(DW(), words + order[i] * kWords); };
        hash_mix(v0, v4, v8, vc, m(0), m(1));
        hash_mix(v1, v5, v9, vd, m(2), m(3));
        hash_mix(v2, v6, va, ve, m(4), m(5));
        hash_mix(v3, v7, vb, vf, m(6), m(7));
        hash_mix(v0, v5, va, vf, m(8), m(9));
        hash_mix(v1, v6, vb, vc, m(10), m(11));
        hash_mix(v2, v7, v8, vd, m(12), m(13));
        hash_mix(v3, v4, v9, ve, m(14), m(15));
    }
    const VW low[8] = {v0, v1, v2, v3, v4, v5, v6, v7}, high[8] = {v8, v9, va, vb, vc, vd, ve, vf};
    for (std::size_t i = 0; i < 8; ++i) h[i] = hn::Xor(h[i], hn::Xor(low[i], high[i]));
}

// Hashes kWords messages from `first` on; repeats the last one when there are no more.
inline void hash_lanes(const base::MessageBatch& messages, std::size_t first, base::Hash256* out) {
    alignas(64) std::uint64_t words[kBlockWords * kWords];
    VW h[8];
    for (std::size_t i = 0; i < 8; ++i) h[i] = hn::Set(DW(), kHashStart[i]);
    constexpr std::uint64_t kParameters = 0x01010000 + 32;  // no key, fanout and depth 1, 32 bytes of digest
    h[0] = hn::Xor(h[0], hn::Set(DW(), kParameters));
    std::uint64_t personal[2];  // the last 16 bytes of the parameter block; without a salt before them
    std::memcpy(personal, messages.personal.bytes.data(), sizeof(personal));
    for (std::size_t i = 0; i < 2; ++i) h[6 + i] = hn::Xor(h[6 + i], hn::Set(DW(), personal[i]));
    std::size_t at = 0;
    do {
        const std::size_t here = messages.length - at < kHashBlock ? messages.length - at : kHashBlock;
        const bool last = at + here == messages.length;
        for (std::size_t l = 0; l < kWords; ++l) {
            const std::size_t message = first + l < messages.count ? first + l : messages.count - 1;
            std::uint64_t block[kBlockWords] = {};
            const std::uint8_t* from = messages.data + message * messages.stride + at;
            if (here > 0) std::memcpy(block, from, here);  // the address of nothing may be null
            for (std::size_t w = 0; w < kBlockWords; ++w) words[w * kWords + l] = block[w];
        }
        at += here;
        hash_compress(h, words, at, last);
    } while (at < messages.length);
    alignas(64) std::uint64_t digests[4 * kWords];
    for (std::size_t i = 0; i < 4; ++i) hn::Store(h[i], DW(), digests + i * kWords);
    for (std::size_t l = 0; l < kWords && first + l < messages.count; ++l) {
        for (std::size_t i = 0; i < 4; ++i) {
            std::memcpy(out[first + l].bytes.data() + 8 * i, digests + i * kWords + l, 8);
        }
    }
}

inline void hash_batch(const base::MessageBatch& messages, base::Hash256* out) {
    for (std::size_t first = 0; first < messages.count; first += kWords) hash_lanes(messages, first, out);
}
