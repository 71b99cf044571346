// SPDX-License-Identifier: Apache-2.0
// Gives the common code what one instruction set brings to the exact-integer product: how it packs
// operands and multiplies packed blocks. Everything else (slabs, threads, memory, attention) is common
// code.
//
// A packed operand is cut along k into the blocks of the rule, and across into panels of a_rows rows of A or
// b_cols columns of B; both count as "lanes" here. A panel is a run of units of 64 k (the last one filled up
// with zeros), whose inside only the instruction set knows. Digits: v = 256·hi + lo, lo in [−128, 127].
// A 24-bit operand is packed as two, upper and lower: v = 2^s · upper + lower, where only the instruction set
// knows s and lower is a signed number of s bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::trainer::integer {

inline constexpr std::uint64_t kUnit = 64;   ///< k of a unit
inline constexpr std::uint64_t kGroup = 96;  ///< most lanes packed at a time: a multiple of every panel
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

/// A packed operand's memory: panel p of block b starts at data + b·block_stride + p·panel_stride (bytes),
/// the exponent of lane l in block b is exponents[b·exponent_stride + l].
struct Packed {
    const std::byte* data = nullptr;
    const std::byte* lower = nullptr;  ///< of a 24-bit operand A; else nullptr
    const std::int32_t* exponents = nullptr;
    std::uint64_t panel_stride = 0;
    std::uint64_t block_stride = 0;
    std::uint64_t exponent_stride = 0;
    /// The same operand from lane `first` (a multiple of `panel`, the lanes of one) on.
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

/// The integer sums of one block of k of one region, given to whoever checks them (guard.hpp).
struct ShownSums {
    std::int64_t* sums = nullptr;  ///< kGroup rows of kGroup; null: nobody asks
    std::uint64_t row = 0;         ///< of the tile, where the region starts: a multiple of kGroup
    std::uint64_t col = 0;
    std::uint64_t block = 0;
};

/// rows × cols outputs: c = (0 or c) + the value of block after block, then, where wanted, · scale and +
/// bias.
struct ProductTile {
    Packed a;
    Packed b;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t depth = 0;       ///< k of each block but the last
    std::uint64_t last_depth = 0;  ///< k of the last
    std::uint64_t blocks = 0;      ///< at least 1
    float* c = nullptr;
    std::uint64_t c_stride = 0;
    bool carry = false;
    float scale = 1.0F;
    const float* bias = nullptr;
    std::byte* region = nullptr;  ///< Machine::region_bytes, of the calling thread while it multiplies
    ShownSums shown = {};
};

/// Where the multiplication will read next: hints for the caches, so any address does.
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
    /// Exponents of the lanes of the slice, and of lanes of zeros up to a whole panel. Needs room up to the
    /// next multiple of kMostVectorLanes: whole vectors are written.
    void (*exponents_a)(const Slice& slice, int digits, std::int32_t* exponents) = nullptr;
    void (*exponents_b)(const Slice& slice, int digits, std::int32_t* exponents) = nullptr;
    /// The same from largest magnitudes that are known: of `lanes` lanes, and of zeros up to a whole panel of
    /// `panel` lanes.
    void (*exponents_of)(const std::int32_t* maxima, std::uint64_t lanes, int digits, std::uint64_t panel,
                         std::int32_t* exponents) = nullptr;
    /// Packs the panels of the slice, `panel_stride` bytes apart, by the exponents found before; a 24-bit
    /// operand, which has a `lower`, to both.
    void (*pack_a)(const Slice& slice, const std::int32_t* exponents, std::uint64_t panel_stride,
                   std::byte* out, std::byte* lower) = nullptr;
    void (*pack_b)(const Slice& slice, const std::int32_t* exponents, std::uint64_t panel_stride,
                   std::byte* out) = nullptr;
    /// Returns whether every output is finite.
    bool (*multiply)(const ProductTile& block) = nullptr;
    /// What multiply() keeps sums in (a multiple of kAlignment, and so aligned): too much for a stack.
    std::uint64_t region_bytes = 0;
};

}  // namespace assay::trainer::integer
