// SPDX-License-Identifier: Apache-2.0
// The referee recomputes one partial of one tile, from openings under hashes that the game has fixed, only
// with contracts/arithmetic. It says whether the claimed value follows from the claimed inputs. It is total:
// every position and every byte string has a verdict.
#pragma once

#include <functional>
#include <string>

#include "contracts/dispute/partial_table.hpp"
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
    GameReason reason = GameReason::kPosition;
    /// For kDiffers and kDiverges: the first cell that differs or is not finite, and its bits.
    std::uint64_t cell = 0;
    base::Uint128 claimed = 0;
    base::Uint128 computed = 0;

    [[nodiscard]] bool claimant_wins() const { return outcome == GameOutcome::kClaimantWins; }
    friend bool operator==(const GameVerdict&, const GameVerdict&) = default;
};

/// Whether the step's program has such a partial. A game checks this before a challenger may pick a place,
/// because in judge() the claimant loses at a place that does not exist.
bool exists(const StepFacts& facts, const PartialPosition& position);
/// The number of partials of a tile, the tile included. REQUIRES an operator, output and tile that exist.
std::uint64_t partial_count(const StepFacts& facts, const PartialPosition& position);
/// The place of a partial in its tile's law. REQUIRES exists(facts, position).
PartialPlace partial_place(const StepFacts& facts, const PartialPosition& position);
/// "segment 2, step 7: `h.2.mlp.c_fc` dX tile (3,7), term 2" (words.hpp).
std::string describe(const StepFacts& facts, const PartialPosition& position);

/// The cost for the claimant of the longest dispute over a step of a segment of `steps`: moves, the witness
/// included, and bytes, with the longest possible witness.
struct DisputeCost {
    std::uint64_t moves = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const DisputeCost&, const DisputeCost&) = default;
};
DisputeCost longest_dispute(const StepFacts& facts, std::uint32_t steps);

/// Judges the partial at `position`. The claimant made the witness, so any fault in it counts against the
/// claimant.
GameVerdict judge(const StepFacts& facts, const PartialPosition& position, const FixedHashes& fixed,
                  base::ByteView witness);

/// Makes the witness for judge(). `partials` are all partials of the tile as the claimant has them. REQUIRES
/// a partial that exists.
base::Bytes make_witness(const PartialPosition& position, StepMemory& memory,
                         const std::vector<Cells>& partials, const StoredTree& tree);

/// Computes all partials of a tile by its law from `memory`, the tile last. REQUIRES a tile that exists.
std::vector<Cells> compute_partials(const PartialPosition& position, StepMemory& memory);
/// The tree over the hashes of all partials but the last.
StoredTree partial_tree(const std::vector<Cells>& partials);

/// Computes the partial at a place from what `reader` gives. REQUIRES exists(facts, position).
Cells compute_partial(const StepFacts& facts, const PartialPosition& position, OpeningReader& reader);

namespace detail {
GameVerdict refused(const OpeningReader& reader);
/// What is claimed about a partial.
struct ClaimedPartial {
    CellShape shape;
    Hash256 hash;
    std::size_t tile_width = 0;  ///< for a tile, else 0
    bool has_to_be_finite = false;
};
/// The verdict on a witness, from the claimed value at its front to its last byte.
GameVerdict verdict_on(WitnessReader& reader, const ClaimedPartial& claim,
                       const std::function<Cells()>& compute);
}  // namespace detail

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::GameOutcome, kClaimantWins, kJobVoid);
}  // namespace assay::base
