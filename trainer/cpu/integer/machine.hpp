// SPDX-License-Identifier: Apache-2.0
// Machine is the part of the exact-integer product that depends on the instruction set: packing operands and
// multiplying packed blocks. Everything else (slabs, threads, memory, attention) is common code.
//
// A packed operand is cut along k into the blocks of the rule, and across into panels of a_rows rows of A or
// b_cols columns of B. Rows of A and columns of B are both called "lanes" here. A panel is a run of units of
// 64 k, the last one filled up with zeros. Each instruction set has its own layout within a unit. Digits: v =
// 256·hi + lo, lo in [−128, 127]. A 24-bit operand is packed as two, upper and lower: v = 2^s · upper +
// lower, where lower is a signed number of s bits and each instruction set has its own s.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::trainer::integer {

inline constexpr std::uint64_t kUnit = 64;   ///< k of a unit
inline constexpr std::uint64_t kGroup = 96;  ///< the most lanes packed at a time: a multiple of every panel
inline constexpr std::uint64_t kMostVectorLanes = 16;  ///< of 32 bits, of any target
inline constexpr std::uint64_t kAlignment = 64;        ///< of packed memory, in bytes

constexpr std::uint64_t units_of(std::uint64_t depth) { return (depth + kUnit - 1) / kUnit; }

/// Up to kGroup lanes of one block of an operand: element (lane, k) is data[lane·lane_stride + k·k_stride].
struct Slice {
    const float* data = nullptr;
    std::uint64_t lane_stride = 0;
    std::uint64_t k_stride = 0;
    std::uint64_t lanes = 0;
    std::uint64_t depth = 0;  ///< k of this block, at least 1
};

/// A packed operand's memory. Panel p of block b starts at data + b·block_stride + p·panel_stride (bytes);
/// the exponent of lane l in block b is exponents[b·exponent_stride + l].
struct Packed {
    const std::byte* data = nullptr;
    const std::byte* lower = nullptr;  ///< of a 24-bit operand A; else nullptr
    const std::int32_t* exponents = nullptr;
    std::uint64_t panel_stride = 0;
    std::uint64_t block_stride = 0;
    std::uint64_t exponent_stride = 0;
    /// The same operand from lane `first` on. REQUIRES a multiple of `panel`, the lanes of a panel.
    [[nodiscard]] Packed from(std::uint64_t first, std::uint64_t panel) const {
        Packed out = *this;
        const std::uint64_t bytes = first / panel * panel_stride;
        out.data += bytes;
        if (lower != nullptr) out.lower += bytes;
        out.exponents += first;
        return out;
    }
    [[nodiscard]] Packed at_block(std::uint64_t block) const {
        Packed out = *this;
        out.data += block * block_stride;
        if (lower != nullptr) out.lower += block * block_stride;
        out.exponents += block * exponent_stride;
        return out;
    }
};

/// Where multiply() copies the integer sums of one region in one block of k, for ProductGuard (guard.hpp).
struct ShownSums {
    std::int64_t* sums = nullptr;  ///< kGroup rows of kGroup; null: not wanted
    std::uint64_t row = 0;         ///< first row of the region in the tile: a multiple of kGroup
    std::uint64_t col = 0;
    std::uint64_t block = 0;
};

/// rows × cols outputs: c = (0 or c) + the values of all blocks, one after another; then, if wanted, · scale
/// and
/// + bias.
struct ProductTile {
    Packed a;
    Packed b;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t depth = 0;       ///< k of each block but the last
    std::uint64_t last_depth = 0;  ///< k of the last, at most `depth`
    std::uint64_t blocks = 0;      ///< at least 1
    float* c = nullptr;
    std::uint64_t c_stride = 0;
    bool carry = false;
    float scale = 1.0F;
    const float* bias = nullptr;
    std::byte* region = nullptr;  ///< Machine::region_bytes for the calling thread while it multiplies
    ShownSums shown = {};
};

/// Where the multiplication will read next. A hint for the caches: any address is allowed.
struct Ahead {
    const std::byte* a = nullptr;
    const std::byte* b = nullptr;
};

struct Machine {
    std::uint64_t a_rows = 0;  ///< lanes of a panel
    std::uint64_t b_cols = 0;
    /// Bytes of a panel of `depth` k (a multiple of kAlignment).
    std::uint64_t (*a_panel_bytes)(std::uint64_t depth) = nullptr;
    std::uint64_t (*b_panel_bytes)(std::uint64_t depth) = nullptr;
    /// Finds the exponents of the slice's lanes, and of lanes of zeros up to a whole panel. REQUIRES room up
    /// to the next multiple of kMostVectorLanes, since it writes whole vectors.
    void (*exponents_a)(const Slice& slice, int digits, std::int32_t* exponents) = nullptr;
    void (*exponents_b)(const Slice& slice, int digits, std::int32_t* exponents) = nullptr;
    /// The same from known largest magnitudes of `lanes` lanes, with lanes of zeros up to whole panels of
    /// `panel` lanes.
    void (*exponents_of)(const std::int32_t* maxima, std::uint64_t lanes, int digits, std::uint64_t panel,
                         std::int32_t* exponents) = nullptr;
    /// Packs the panels of the slice, `panel_stride` bytes apart, by the exponents found before. A 24-bit
    /// operand goes to `out` and `lower`; else `lower` is null.
    void (*pack_a)(const Slice& slice, const std::int32_t* exponents, std::uint64_t panel_stride,
                   std::byte* out, std::byte* lower) = nullptr;
    void (*pack_b)(const Slice& slice, const std::int32_t* exponents, std::uint64_t panel_stride,
                   std::byte* out) = nullptr;
    /// Returns whether every output is finite.
    bool (*multiply)(const ProductTile& block) = nullptr;
    /// Bytes of memory for multiply()'s sums, too many for a stack. A multiple of kAlignment, and so aligned.
    std::uint64_t region_bytes = 0;
};

}  // namespace assay::trainer::integer
