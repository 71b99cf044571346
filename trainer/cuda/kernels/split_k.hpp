// SPDX-License-Identifier: Apache-2.0
// Gives products with several blocks of k a plan that leaves no processor of a card idle, after Stream-K
// (Osama et al., arXiv 2301.03598). A card makes as many tiles at a time as it has processors; the tiles that
// are left over, fewer than that, are cut along k. Stream-K adds partial sums in any order. The law's order
// is kept here: a cut lies between two blocks of k, and what is cut off are single blocks, which are finished
// on their own and added one after another.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/cuda/simt/machine.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Tiles and blocks of k of a product, numbers of k in a block, and numbers of a tile.
struct TileCounts {
    std::uint64_t tiles = 0;
    std::uint64_t blocks = 0;
    std::uint64_t length = 0;
    std::uint64_t numbers = 0;
};

/// Thread blocks make tiles 0 to whole - 1 with all blocks of k. Of each later tile one makes blocks
/// 0 to together - 1; every further block of k is a part, which a thread block of its own makes.
struct SplitK {
    unsigned whole = 0;
    unsigned together = 0;
    unsigned parts = 0;  ///< of all later tiles; 0: nothing is cut

    [[nodiscard]] bool cuts() const { return parts != 0; }
};

/// The numbers that all parts of a product may take while they wait to be added: 64 MiB.
inline constexpr std::uint64_t kMostPartNumbers = std::uint64_t{16} << 20U;

/// What products are planned for.
struct Processors {
    /// Of the card, where it has products by warpgroups; 0: nothing is made in large tiles.
    unsigned count = 0;
    /// Whether only what saves more than it costs is cut; tests cut what can be cut.
    bool weighs = true;
};

/// What storing and adding a part costs a card, and launching what adds them, as numbers of k that every
/// processor multiplies meanwhile: 64 KiB both ways at 3 TB/s, some 3 µs, and a tile that takes 1,024 in 22
/// µs. By count, not measured.
inline constexpr std::uint64_t kPriceOfPart = 2, kPriceOfAdding = 256;

/// The plan that ends first where every processor makes a block of k of one tile at a time. Of such plans it
/// has the fewest parts, at most kMostPartNumbers.
inline SplitK split_k(const TileCounts& of, const Processors& processors) {
    if (of.tiles == 0 || of.blocks < 2 || processors.count == 0) return {};
    const std::uint64_t later = of.tiles % processors.count;
    if (later == 0) return {};
    // Time after the whole tiles, in blocks of k: less than this no plan can take, and with so many blocks
    // together in a tile all parts are made meanwhile.
    const std::uint64_t time = (later * of.blocks + processors.count - 1) / processors.count;
    const std::uint64_t room = kMostPartNumbers / (later * of.numbers);  // parts of each tile
    const std::uint64_t parts = std::min(of.blocks - time, room);
    const std::uint64_t price = processors.weighs ? kPriceOfPart * parts * later + kPriceOfAdding : 0;
    if (parts * of.length <= price) return {};
    return {.whole = static_cast<unsigned>(of.tiles - later),
            .together = static_cast<unsigned>(of.blocks - parts),
            .parts = static_cast<unsigned>(parts * later)};
}

/// At least the numbers of the parts of any product with at most so many tiles and blocks of k.
inline std::uint64_t most_part_numbers(const TileCounts& of, unsigned processors) {
    std::uint64_t most = 0;
    for (std::uint64_t later = 1; later < processors && later <= of.tiles; ++later)
        most = std::max<std::uint64_t>(
            most, split_k({later, of.blocks, 1, of.numbers}, {processors, false}).parts * of.numbers);
    return most;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
