// SPDX-License-Identifier: Apache-2.0
// Plans products with several blocks of k so that no multiprocessor of a card is idle, after Stream-K (Osama
// et al., arXiv 2301.03598). A card computes as many tiles at a time as it has multiprocessors. The tiles
// that are left over, fewer than that, are cut along k. Stream-K adds partial sums in any order; this plan
// keeps the law's order: a cut lies between two blocks of k, and the parts that are cut off are single
// blocks, which are finished on their own and added one after another.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/cuda/simt/machine.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Of a product: its tiles, its blocks of k, the k of a block (`length`), and the numbers of a tile.
struct TileCounts {
    std::uint64_t tiles = 0;
    std::uint64_t blocks = 0;
    std::uint64_t length = 0;
    std::uint64_t numbers = 0;
};

/// One thread block computes each of tiles 0 to whole - 1 with all blocks of k. For each later tile, one
/// thread block computes blocks 0 to together - 1; every further block of k is a part with a thread block of
/// its own.
struct SplitK {
    unsigned whole = 0;
    unsigned together = 0;
    unsigned parts = 0;  ///< of all later tiles together; 0: nothing is cut

    [[nodiscard]] bool cuts() const { return parts != 0; }
};

/// The most numbers that all parts of a product may take while they wait to be added: 64 MiB.
inline constexpr std::uint64_t kMostPartNumbers = std::uint64_t{16} << 20U;

/// The multiprocessors for which products are planned.
struct Processors {
    /// Those of the card, if it has products by warpgroups; 0: no large tiles.
    unsigned count = 0;
    /// True: cuts only when that saves more than it costs. Tests cut whatever can be cut.
    bool weighs = true;
};

/// The cost of storing and adding a part, and of launching the kernel that adds them, in numbers of k that
/// every multiprocessor multiplies in that time. Estimated, not measured: 64 KiB both ways at 3 TB/s, some 3
/// µs, and a tile that takes 22 µs for a k of 1,024.
inline constexpr std::uint64_t kPriceOfPart = 2, kPriceOfAdding = 256;

/// The plan that ends first when every multiprocessor computes a block of k of one tile at a time. Among such
/// plans it has the fewest parts. They take at most kMostPartNumbers.
inline SplitK split_k(const TileCounts& of, const Processors& processors) {
    if (of.tiles == 0 || of.blocks < 2 || processors.count == 0) return {};
    const std::uint64_t later = of.tiles % processors.count;
    if (later == 0) return {};
    // Time after the whole tiles, in blocks of k. No plan can take less; and if a tile keeps so many blocks
    // together, all parts are computed in the same time.
    const std::uint64_t time = (later * of.blocks + processors.count - 1) / processors.count;
    const std::uint64_t room = kMostPartNumbers / (later * of.numbers);  // parts of each tile
    const std::uint64_t parts = std::min(of.blocks - time, room);
    const std::uint64_t price = processors.weighs ? kPriceOfPart * parts * later + kPriceOfAdding : 0;
    if (parts * of.length <= price) return {};
    return {.whole = static_cast<unsigned>(of.tiles - later),
            .together = static_cast<unsigned>(of.blocks - parts),
            .parts = static_cast<unsigned>(parts * later)};
}

/// An upper bound of the numbers of the parts of any product with at most so many tiles and blocks of k.
inline std::uint64_t most_part_numbers(const TileCounts& of, unsigned processors) {
    std::uint64_t most = 0;
    for (std::uint64_t later = 1; later < processors && later <= of.tiles; ++later)
        most = std::max<std::uint64_t>(
            most, split_k({later, of.blocks, 1, of.numbers}, {processors, false}).parts * of.numbers);
    return most;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
