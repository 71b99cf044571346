// SPDX-License-Identifier: Apache-2.0
// Gives the ledger the referee: it computes one link of one tile again, from openings under hashes that the
// game has fixed, with contracts/arithmetic alone, and says whether the claimed value follows from the
// claimed inputs. Total: every position and every byte string has a verdict.
#pragma once

#include <string>

#include "contracts/dispute/link_table.hpp"
#include "contracts/dispute/witness.hpp"

namespace assay::dispute {

enum class GameOutcome : std::uint8_t {
    kClaimantWins = 1,
    kClaimantLoses = 2,
    kJobVoid = 3,  ///< the job's own data are at fault
};
std::string_view to_text(GameOutcome outcome);

struct GameVerdict {
    GameOutcome outcome = GameOutcome::kClaimantLoses;
    GameReason reason = GameReason::kNoWitness;
    /// Of kDiffers and kDiverges: the first cell that differs or is not finite, and its bits.
    std::uint64_t cell = 0;
    base::Uint128 claimed = 0;
    base::Uint128 computed = 0;

    [[nodiscard]] bool claimant_wins() const { return outcome == GameOutcome::kClaimantWins; }
    friend bool operator==(const GameVerdict&, const GameVerdict&) = default;
};

/// Whether a place of the step's program has such a link.
bool exists(const StepFacts& facts, const LinkPosition& position);
/// Links of a tile, the tile included. REQUIRES an operator, output and tile that exist.
std::uint64_t link_count(const StepFacts& facts, const LinkPosition& position);
/// What a link is. REQUIRES exists(facts, position).
LinkPlace link_place(const StepFacts& facts, const LinkPosition& position);
/// "slot 3, round 5, segment 2, step 7: `h.2.mlp.c_fc.input.backward` dx tile (3,7), sums 0, term 2".
std::string describe(const StepFacts& facts, const LinkPosition& position);

/// Judges the link at `position`. The witness is the claimant's: whatever is wrong with it is its fault.
GameVerdict judge(const StepFacts& facts, const LinkPosition& position, const FixedHashes& fixed,
                  base::ByteView witness);

/// What judge() is shown: REQUIRES a link that exists; `links` are all of the tile's as the claimant has
/// them.
base::Bytes make_witness(const LinkPosition& position, StepMemory& memory, const std::vector<Cells>& links,
                         const StoredTree& tree);

/// All links of a tile by its law from what `memory` holds, the tile last. REQUIRES a tile that exists.
std::vector<Cells> compute_links(const LinkPosition& position, StepMemory& memory);
/// The tree over the hashes of all links but the last.
StoredTree link_tree(const std::vector<Cells>& links);

/// The link at a place from whatever `reader` gives. REQUIRES exists(facts, position).
Cells compute_link(const StepFacts& facts, const LinkPosition& position, OpeningReader& reader);

namespace detail {
GameVerdict refused(const OpeningReader& reader);
/// The claimed value, from the front of a witness; refuses one that has another hash. `tile_width`: of a
/// tile, else 0.
Cells claimed_value(WitnessReader& reader, CellShape shape, const Hash256& claimed, std::size_t tile_width);
/// The verdict on a computed link.
GameVerdict compare(const Cells& claimed, const Cells& computed, bool has_to_be_finite);
}  // namespace detail

}  // namespace assay::dispute
