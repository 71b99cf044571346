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
    const program::Fingerprint found = own.fingerprint(step);
    const program::Fingerprint& claimed = facts.claim().fingerprints[step - facts.claim().first_step];
    if (found.loss != claimed.loss) return StepEnd::kLoss;
    if (found.norm != claimed.norm) return StepEnd::kNorm;
    if (own.state(step + 1) != way.end) return StepEnd::kState;
    return std::nullopt;
}

/// Where the states are all the challenger's own: the part of the way with the first step whose fingerprint
/// is not. Nothing: there is none.
std::optional<Pick> wrong_fingerprint(const Way& way, UnitFacts& facts, UnitMemory& own) {
    const UnitClaim& claim = facts.claim();
    const std::uint64_t steps = way.last - way.first;
    for (std::uint32_t step = way.first; step < way.last; ++step) {
        if (own.fingerprint(step) == claim.fingerprints[step - claim.first_step]) continue;
        std::uint64_t part = 0;
        while (way.first + steps * (part + 1) / way.posted.size() <= step) ++part;
        return Pick{.index = part, .end = std::nullopt};
    }
    return std::nullopt;
}

}  // namespace

std::vector<Hash256> next_post(const Way& way, UnitMemory& own) {
    ASSAY_CHECK(way.posted.empty() && way.stage != WayStage::kWitness);
    return own_hashes(way, own);
}

std::optional<Pick> next_pick(const Way& way, UnitFacts& facts, UnitMemory& own) {
    const std::vector<Hash256> mine = own_hashes(way, own);
    for (std::size_t i = 0; i < way.posted.size(); ++i) {
        const Pick pick{.index = i, .end = std::nullopt};
        if (way.posted[i] != mine[i] && may_pick(way, facts, pick)) return pick;
    }
    if (way.stage == WayStage::kStates) {
        const auto pick = wrong_fingerprint(way, facts, own);
        if (pick && may_pick(way, facts, *pick)) return pick;
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
