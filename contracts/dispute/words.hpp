// SPDX-License-Identifier: Apache-2.0
// Describes a way for people: the operator and its output, gradients by their usual names, the tile by row
// and column, the term. The ledger's decisions do not depend on these texts.
#pragma once

#include <optional>
#include <string>

#include "contracts/dispute/way.hpp"

namespace assay::dispute {

/// Row and column of a tile among the tiles of its matrix, from 0.
struct TileCoordinates {
    std::uint64_t row = 0;
    std::uint64_t col = 0;
    friend bool operator==(const TileCoordinates&, const TileCoordinates&) = default;
};

/// What is disputed, in parts; a part is empty if the way has not reached it.
struct DisputedPlace {
    std::string unit;                   ///< "slot 3, round 5, segment 2", "round 5, merge"
    std::optional<std::uint32_t> step;  ///< inner step of the round
    std::string subject;                ///< "`h.2.mlp.c_fc` dX", "the state behind it, parameters"
    std::optional<TileCoordinates> tile;
    std::optional<std::uint64_t> term;  ///< nothing when the tile itself is disputed
    std::string partial;                ///< the term and what it belongs to: "sums of block 3, term 2"
};

/// Describes the disputed place. REQUIRES facts of the unit that the way is about. Of the claim it reads only
/// kind, round, slot, segment, steps, where the work ended, and the number of a merge's slots; no hash.
DisputedPlace disputed_place(const Way& way, UnitFacts& facts);

/// The bits of a number or sum, with as few digits as possible: "0x3f1c0a42".
std::string bits_text(base::Uint128 bits);

}  // namespace assay::dispute
