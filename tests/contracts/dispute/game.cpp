// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/dispute/game.hpp"

#include "tests/support/catch.hpp"

namespace disputed {

using namespace assay;
using namespace assay::dispute;

std::optional<std::uint64_t> first_difference(const StoredTree& claimed, const StoredTree& honest) {
    REQUIRE(claimed.leaves() == honest.leaves());
    if (claimed.root() == honest.root()) return std::nullopt;
    TreeRow row = top_row(claimed.leaves());
    Hash256 above = claimed.root();
    std::uint32_t moves = 0;
    for (;;) {
        const auto posted = claimed.row(row.height).subspan(row.first, row.nodes);
        const auto own = honest.row(row.height).subspan(row.first, row.nodes);
        REQUIRE(folds(row, {posted.begin(), posted.end()}, above));
        ++moves;
        std::uint64_t i = 0;
        while (posted[i] == own[i]) ++i;
        const std::uint64_t picked = row.first + i;
        if (row.height == 0) {
            REQUIRE(moves == std::max(1U, moves_of(claimed.leaves())));
            return picked;
        }
        above = posted[i];
        row = row_below(claimed.leaves(), row, picked);
    }
}

std::optional<PlayedClaim> walk(StepCommitments& claimant, StepCommitments& challenger) {
    const StepFacts& facts = *claimant.facts();
    const auto output = first_difference(claimant.outputs(), challenger.outputs());
    if (!output) return std::nullopt;
    PlayedClaim claim;
    PartialPosition& at = claim.position;
    while (facts.first_output[at.operator_index + 1] <= *output) ++at.operator_index;
    at.output = static_cast<std::uint32_t>(*output - facts.first_output[at.operator_index]);
    const auto tile = first_difference(claimant.tiles_of(at.operator_index, at.output),
                                       challenger.tiles_of(at.operator_index, at.output));
    REQUIRE(tile);
    at.tile = *tile;
    claim.partials = claimant.partials(at);
    const std::vector<Cells> own = challenger.partials(at);
    const auto partial = first_difference(partial_tree(claim.partials), partial_tree(own));
    at.partial = partial ? *partial : own.size() - 1;
    return claim;
}

FixedHashes fixed_hashes(const Step& step, const StepCommitments& claimant, const PlayedClaim& claim) {
    const PartialPosition& at = claim.position;
    const bool is_last = at.partial + 1 == claim.partials.size();
    const std::uint64_t width =
        extent_of(step.inputs.facts.rows(step.inputs.facts.output(at.operator_index, at.output)),
                  step.inputs.facts.cols(step.inputs.facts.output(at.operator_index, at.output)), at.tile)
            .width;
    const Cells& value = claim.partials[at.partial];
    return {.claimed = is_last ? tile_hash(value, width) : partial_hash(value),
            .outputs = claimant.outputs().root(),
            .partials = partial_tree(claim.partials).root(),
            .data = step.data,
            .states = {step.state_root},
            .arrays = {}};
}

base::Bytes witness_of(StepMemory& claimant, const PlayedClaim& claim) {
    return make_witness(claim.position, claimant, claim.partials, partial_tree(claim.partials));
}

GameVerdict verdict_on(const Step& step, StepCommitments& claimant, const PlayedClaim& claim) {
    return judge(step.inputs.facts, claim.position, fixed_hashes(step, claimant, claim),
                 witness_of(claimant, claim));
}

}  // namespace disputed
