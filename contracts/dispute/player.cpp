// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/player.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::dispute {

namespace {

/// Roots of states evenly spaced over the way's steps, the last one behind them.
std::vector<Hash256> states(const Way& way, UnitMemory& own) {
    const std::uint64_t steps = way.last - way.first;
    const std::uint64_t count = std::min<std::uint64_t>(steps, kMaxMoveHashes);
    std::vector<Hash256> out;
    for (std::uint64_t i = 1; i <= count; ++i)
        out.push_back(own.state(way.first + static_cast<std::uint32_t>(steps * i / count)));
    return out;
}

std::vector<Hash256> own_hashes(const Way& way, UnitMemory& own) {
    if (way.stage == WayStage::kStates) return states(way, own);
    if (way.stage == WayStage::kArrays) return own.arrays();
    return own.row(way);
}

/// What to reject behind outputs that are all the challenger's own.
std::optional<StepEnd> wrong_end(const Way& way, UnitFacts& facts, UnitMemory& own) {
    if (way.first == way.last) return StepEnd::kDivergence;
    const std::uint32_t step = way.at.step;
    const auto found = own.fingerprint(step);
    const program::Fingerprint& claimed = facts.claim().fingerprints[step - facts.claim().first_step];
    if (!found || found->loss != claimed.loss) return StepEnd::kLoss;
    if (found->norm != claimed.norm) return StepEnd::kNorm;
    if (own.state(step + 1) != way.end) return StepEnd::kState;
    return std::nullopt;
}

/// The part of the way with the first step whose fingerprint is not the challenger's own. The number of
/// parts: there is none.
std::uint64_t wrong_fingerprint(const Way& way, UnitFacts& facts, UnitMemory& own) {
    const UnitClaim& claim = facts.claim();
    const std::uint64_t steps = way.last - way.first;
    for (std::uint32_t step = way.first; step < way.last; ++step) {
        if (own.fingerprint(step) == claim.fingerprints[step - claim.first_step]) continue;
        std::uint64_t part = 0;
        while (way.first + steps * (part + 1) / way.posted.size() <= step) ++part;
        return part;
    }
    return way.posted.size();
}

/// Of the parts between posted states the first in which a state or a fingerprint is not the challenger's
/// own. A claim can stand still where the challenger's work ended, and then go on: its states differ behind
/// the step that is false, and each step from there on may be right.
std::optional<Pick> wrong_part(const Way& way, UnitFacts& facts, UnitMemory& own,
                               const std::vector<Hash256>& mine) {
    std::uint64_t state = 0;
    while (state < way.posted.size() && way.posted[state] == mine[state]) ++state;
    const Pick pick{.index = std::min(state, wrong_fingerprint(way, facts, own)), .end = std::nullopt};
    const bool is_any = pick.index < way.posted.size() && may_pick(way, facts, pick);
    return is_any ? std::optional(pick) : std::nullopt;
}

/// The leaf of the way's tree that holds the place; nothing when the place is not behind this stage, or the
/// claim says that the work ended there or before.
std::optional<std::uint64_t> leaf_of(const Way& way, UnitFacts& facts, const NotFinitePlace& place) {
    if (facts.claim().kind != UnitKind::kSegment) {
        if (way.stage == WayStage::kArrays) return place.operator_index;
        if (facts.claim().kind == UnitKind::kMerge && way.is_outer != (place.operator_index == 1))
            return std::nullopt;
        if (way.stage == WayStage::kTensors) return place.output;
        if (way.stage == WayStage::kTiles && way.array.tensor == place.output) return place.tile;
        return std::nullopt;
    }
    const StepFacts& step = facts.step(way.at.step);
    if (step.diverged_at && *step.diverged_at <= place.operator_index) return std::nullopt;
    if (way.stage == WayStage::kOutputs) return step.first_output[place.operator_index] + place.output;
    const bool is_here = way.at.operator_index == place.operator_index && way.at.output == place.output;
    if (way.stage == WayStage::kTiles && is_here) return place.tile;
    return std::nullopt;
}

/// Which of the posted hashes is above the place where the own computation ends. There the claimant cannot
/// open a number that the referee accepts, even where its hashes are the challenger's.
std::optional<std::uint64_t> posted_above_end(const Way& way, UnitFacts& facts, UnitMemory& own) {
    const bool has_outputs = way.stage == WayStage::kOutputs || way.stage == WayStage::kTiles ||
                             way.stage == WayStage::kTensors || way.stage == WayStage::kArrays;
    const auto place = has_outputs ? own.ends_at(way) : std::nullopt;
    const auto leaf = place ? leaf_of(way, facts, *place) : std::nullopt;
    if (!leaf) return std::nullopt;
    if (way.stage == WayStage::kArrays) return leaf;
    const std::uint64_t node = *leaf >> way.row.height;
    if (node < way.row.first || node - way.row.first >= way.posted.size()) return std::nullopt;
    return node - way.row.first;
}

}  // namespace

std::vector<Hash256> next_post(const Way& way, UnitMemory& own) {
    ASSAY_CHECK(way.posted.empty() && way.stage != WayStage::kWitness);
    return own_hashes(way, own);
}

std::optional<Pick> next_pick(const Way& way, UnitFacts& facts, UnitMemory& own) {
    const auto ends = posted_above_end(way, facts, own);
    // What a step wrote before its end may differ already; of an array nothing is known but where it ends.
    if (ends && facts.claim().kind != UnitKind::kSegment) {
        const Pick above{.index = *ends, .end = std::nullopt};
        if (may_pick(way, facts, above)) return above;
    }
    const std::vector<Hash256> mine = own_hashes(way, own);
    if (way.stage == WayStage::kStates)
        if (const auto part = wrong_part(way, facts, own, mine)) return part;
    for (std::size_t i = 0; i < way.posted.size(); ++i) {
        const Pick pick{.index = i, .end = std::nullopt};
        if ((way.posted[i] != mine[i] || ends == i) && may_pick(way, facts, pick)) return pick;
    }
    if (way.stage == WayStage::kOutputs) {
        const auto end = wrong_end(way, facts, own);
        const Pick pick{.index = 0, .end = end};
        if (end && may_pick(way, facts, pick)) return pick;
    }
    const Pick behind{.index = way.posted.size(), .end = std::nullopt};
    return may_pick(way, facts, behind) ? std::optional(behind) : std::nullopt;
}

}  // namespace assay::dispute
