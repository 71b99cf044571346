// SPDX-License-Identifier: Apache-2.0
// Leaves and nodes of roots (contracts/program/state_root.hpp, contracts/base/merkle.hpp): BLAKE2b-256 with a
// personalisation (RFC 7693), one thread for each leaf or node. A state need not leave the card to be hashed.
#pragma once

#include <cstdint>

#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// A personalisation (contracts/base/personal.hpp) as two numbers, little-endian.
struct HashPersonal {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

namespace blake2b {

ASSAY_SIMT std::uint64_t start(unsigned i) {
    constexpr std::uint64_t kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                         0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                         0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    return kStart[i];
}

ASSAY_SIMT std::uint64_t turn(std::uint64_t x, unsigned bits) { return (x >> bits) | (x << (64 - bits)); }

ASSAY_SIMT void mix(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d, std::uint64_t x,
                    std::uint64_t y) {
    a = a + b + x;
    d = turn(d ^ a, 32);
    c = c + d;
    b = turn(b ^ c, 24);
    a = a + b + y;
    d = turn(d ^ a, 16);
    c = c + d;
    b = turn(b ^ c, 63);
}

/// Compresses a block of 16 words. `bytes`: length of the message up to its end.
ASSAY_SIMT void compress(std::uint64_t (&h)[8], const std::uint64_t (&m)[16], std::uint64_t bytes,
                         bool last) {
    // RFC 7693 §2.7; rounds 10 and 11 are those of 0 and 1.
    constexpr std::uint8_t kOrder[12][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                             {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                             {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                             {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                             {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                             {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                             {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                             {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                             {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                             {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
                                             {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                             {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};
    std::uint64_t v[16];
    ASSAY_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
        v[i] = h[i];
        v[8 + i] = start(i);
    }
    v[12] ^= bytes;
    if (last) v[14] = ~v[14];
    ASSAY_UNROLL
    for (unsigned round = 0; round < 12; ++round) {
        const std::uint8_t(&order)[16] = kOrder[round];
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            mix(v[i], v[4 + i], v[8 + i], v[12 + i], m[order[2 * i]], m[order[2 * i + 1]]);
        }
        ASSAY_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            mix(v[i], v[4 + (i + 1) % 4], v[8 + (i + 2) % 4], v[12 + (i + 3) % 4], m[order[8 + 2 * i]],
                m[order[9 + 2 * i]]);
        }
    }
    ASSAY_UNROLL
    for (unsigned i = 0; i < 8; ++i) h[i] ^= v[i] ^ v[8 + i];
}

/// Parameters: 32 bytes of digest, no key, fanout and depth 1.
ASSAY_SIMT void begin(std::uint64_t (&h)[8], const HashPersonal& personal) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < 8; ++i) h[i] = start(i);
    h[0] ^= 0x01010020U;
    h[6] ^= personal.low;
    h[7] ^= personal.high;
}

}  // namespace blake2b

/// What a mutant of the hashes does wrong: it fills up a tile at the border with the numbers after its rows.
enum class HashFault : std::uint8_t { kNone, kUnpadded };

/// Tiles of 16×16 numbers of a matrix, filled up with zeros, row by row.
template <class T>
struct TileHashArgs {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    const T* numbers = nullptr;
    HashPersonal personal;
    OutputArray<std::uint64_t> digests;  ///< four numbers for each tile
};

namespace hashes {

/// Eight bytes of numbers of a tile, from place `at` on.
template <class T, HashFault kFault>
ASSAY_SIMT std::uint64_t word_of(const T* numbers, std::uint64_t rows, std::uint64_t cols, std::uint64_t top,
                                 std::uint64_t left, unsigned at) {
    constexpr std::uint64_t kSide = 16;
    constexpr unsigned kPerWord = 8 / sizeof(T);
    std::uint64_t word = 0;
    ASSAY_UNROLL
    for (unsigned i = 0; i < kPerWord; ++i) {
        const std::uint64_t row = top + (at + i) / kSide, column = left + (at + i) % kSide;
        const bool is_there =
            kFault == HashFault::kUnpadded ? row * cols + column < rows * cols : row < rows && column < cols;
        if (!is_there) continue;
        const T number = numbers[row * cols + column];
        std::uint64_t bits = 0;
        if constexpr (sizeof(T) == sizeof(float)) bits = static_cast<std::uint32_t>(bits_of(number));
        if constexpr (sizeof(T) != sizeof(float)) bits = static_cast<std::uint64_t>(number);
        word |= bits << (i * 8 * sizeof(T));
    }
    return word;
}

/// The digest of leaf `leaf` of a matrix.
template <class T, HashFault kFault>
ASSAY_SIMT void hash_tile(const T* numbers, std::uint64_t rows, std::uint64_t cols, std::uint64_t leaf,
                          const HashPersonal& personal, std::uint64_t (&h)[8]) {
    constexpr std::uint64_t kSide = 16;
    constexpr unsigned kPerWord = 8 / sizeof(T), kPieces = 256 * sizeof(T) / 128;
    const std::uint64_t across = (cols + kSide - 1) / kSide;
    const std::uint64_t top = leaf / across * kSide, left = leaf % across * kSide;
    blake2b::begin(h, personal);
    ASSAY_NO_UNROLL
    for (unsigned piece = 0; piece < kPieces; ++piece) {
        std::uint64_t m[16];
        ASSAY_UNROLL
        for (unsigned word = 0; word < 16; ++word)
            m[word] = word_of<T, kFault>(numbers, rows, cols, top, left, (piece * 16 + word) * kPerWord);
        blake2b::compress(h, m, (piece + 1) * 128, piece + 1 == kPieces);
    }
}

/// The part that holds number i. Part p begins at first[p]; `first` is ascending and has one entry more than
/// there are parts.
ASSAY_SIMT unsigned part_of(const std::uint32_t* first, unsigned parts, std::uint64_t i) {
    unsigned low = 0, high = parts;
    while (high - low > 1) {
        const unsigned middle = low + (high - low) / 2;
        if (first[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace hashes

/// One thread for each leaf. T: float or int64.
template <class T, HashFault kFault = HashFault::kNone>
struct TileHash {
    static constexpr unsigned kThreads = 64;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    static constexpr std::uint64_t kSide = 16;
    using Args = TileHashArgs<T>;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.digests);
    }
    static std::uint64_t leaves(const Args& args) {
        return (args.rows + kSide - 1) / kSide * ((args.cols + kSide - 1) / kSide);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((leaves(args) + kThreads - 1) / kThreads), 1, 1};
    }

    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t leaf = std::uint64_t{block.x()} * kThreads + block.thread();
        if (leaf >= (args.rows + kSide - 1) / kSide * ((args.cols + kSide - 1) / kSide)) return;
        std::uint64_t h[8];
        hashes::hash_tile<T, kFault>(args.numbers, args.rows, args.cols, leaf, args.personal, h);
        for (unsigned i = 0; i < 4; ++i) args.digests.set(leaf * 4 + i, h[i]);
    }
};

/// One of several matrices whose tiles are hashed together.
struct HashedMatrix {
    std::uint64_t first = 0;  ///< place of its first number
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
};

struct TilesHashArgs {
    const float* numbers = nullptr;
    const HashedMatrix* matrices = nullptr;
    const std::uint32_t* first = nullptr;  ///< the first leaf of each matrix, and the end of the last one
    unsigned count = 0;                    ///< number of matrices
    std::uint64_t leaves = 0;              ///< of all matrices
    HashPersonal personal;
    OutputArray<std::uint64_t> digests;
};

/// The same for all matrices of an array together, since small ones, one by one, would leave a card idle.
struct TilesHash {
    static constexpr unsigned kThreads = 64;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = TilesHashArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.digests);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.leaves + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t leaf = std::uint64_t{block.x()} * kThreads + block.thread();
        if (leaf >= args.leaves) return;
        const unsigned matrix = hashes::part_of(args.first, args.count, leaf);
        const HashedMatrix of = args.matrices[matrix];
        std::uint64_t h[8];
        hashes::hash_tile<float, HashFault::kNone>(args.numbers + of.first, of.rows, of.cols,
                                                   leaf - args.first[matrix], args.personal, h);
        for (unsigned i = 0; i < 4; ++i) args.digests.set(leaf * 4 + i, h[i]);
    }
};

struct TreeLevelArgs {
    const std::uint32_t* below = nullptr;  ///< each tree's first digest below, and the end of the last tree's
    const std::uint32_t* above = nullptr;  ///< the same above
    unsigned trees = 0;
    std::uint64_t count = 0;                 ///< number of digests above
    const std::uint64_t* digests = nullptr;  ///< those below, four numbers each
    HashPersonal personal;
    OutputArray<std::uint64_t> out;
};

/// One level of several Merkle trees, one thread for each node. A node without a neighbour goes up unchanged.
struct TreeLevel {
    static constexpr unsigned kThreads = 64;
    static constexpr unsigned kBlocks = 4;
    static constexpr bool kWaits = false;
    using Args = TreeLevelArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
    }
    static Grid grid(const Args& args) {
        return {static_cast<unsigned>((args.count + kThreads - 1) / kThreads), 1, 1};
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const std::uint64_t node = std::uint64_t{block.x()} * kThreads + block.thread();
        if (node >= args.count) return;
        const unsigned tree = hashes::part_of(args.above, args.trees, node);
        const std::uint64_t first = args.below[tree] + 2 * (node - args.above[tree]);
        const std::uint64_t* const from = args.digests + 4 * first;
        if (first + 1 == args.below[tree + 1]) {
            for (unsigned i = 0; i < 4; ++i) args.out.set(4 * node + i, from[i]);
            return;
        }
        std::uint64_t h[8], m[16] = {};
        blake2b::begin(h, args.personal);
        for (unsigned i = 0; i < 8; ++i) m[i] = from[i];
        blake2b::compress(h, m, 64, true);
        for (unsigned i = 0; i < 4; ++i) args.out.set(4 * node + i, h[i]);
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
