// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/way.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::dispute {

namespace {

/// Whether the picked step is the one at which the work ended.
bool is_diverging(const Way& way) { return way.first == way.last; }

ArrayUnit array_unit(const Way& way, const UnitFacts& facts) {
    if (facts.claim().kind == UnitKind::kUpdate) return ArrayUnit::kUpdate;
    return way.is_outer ? ArrayUnit::kMergedOuter : ArrayUnit::kMergedParameters;
}

bool is_segment(const UnitFacts& facts) { return facts.claim().kind == UnitKind::kSegment; }

/// Leaves of the tree whose rows are posted. REQUIRES a stage that has one.
std::uint64_t leaves_of(const Way& way, UnitFacts& facts) {
    switch (way.stage) {
        case WayStage::kOutputs: return facts.step(way.at.step).outputs();
        case WayStage::kStateTensors:
        case WayStage::kTensors: return facts.tensors().size();
        case WayStage::kTiles: {
            if (!is_segment(facts)) {
                const program::TensorInfo& tensor = facts.tensors()[way.array.tensor];
                return arithmetic::tile_count(tensor.rows, tensor.cols);
            }
            const StepFacts& step = facts.step(way.at.step);
            return step.tiles(step.output(way.at.operator_index, way.at.output));
        }
        case WayStage::kPartials:
            if (is_segment(facts)) return partial_count(facts.step(way.at.step), way.at) - 1;
            if (facts.claim().kind == UnitKind::kClip) return partial_count(facts.clip()) - 1;
            return partial_count(facts.array(array_unit(way, facts))) - 1;
        default: break;
    }
    ASSAY_CHECK(false);
}

bool is_first_row(const Way& way, UnitFacts& facts) { return way.row == top_row(leaves_of(way, facts)); }

void enter(Way& way, UnitFacts& facts, WayStage stage, std::optional<Hash256> above) {
    way.stage = stage;
    way.above = above;
    way.row = top_row(leaves_of(way, facts));
}

void enter_outputs(Way& way, UnitFacts& facts) {
    way.at.segment = facts.claim().segment;
    way.at.step = way.first;
    enter(way, facts, WayStage::kOutputs, std::nullopt);
}

void end_at(Way& way, std::uint64_t partial, const Hash256& picked) {
    way.stage = WayStage::kWitness;
    way.at.partial = way.array.partial = partial;
    way.picked = picked;
}

void enter_partials(Way& way, UnitFacts& facts, const Hash256& tile) {
    way.picked = tile;
    way.stage = WayStage::kPartials;
    if (leaves_of(way, facts) == 0) return end_at(way, 0, tile);
    enter(way, facts, WayStage::kPartials, std::nullopt);
}

void enter_tiles(Way& way, UnitFacts& facts, const Hash256& above) {
    enter(way, facts, WayStage::kTiles, above);
    // The root of an output with one tile is that tile. A tensor's root stands inside its leaf.
    if (is_segment(facts) && leaves_of(way, facts) == 1) enter_partials(way, facts, above);
}

std::uint64_t states_posted(const Way& way) {
    return std::min<std::uint64_t>(way.last - way.first, kMaxMoveHashes);
}

/// The step behind so many of the posted states.
std::uint32_t step_behind(const Way& way, std::uint64_t states) {
    const std::uint64_t steps = way.last - way.first;
    return way.first + static_cast<std::uint32_t>(steps * states / states_posted(way));
}

bool may_end_at(const Way& way, UnitFacts& facts, StepEnd end) {
    if (way.stage != WayStage::kOutputs || !is_first_row(way, facts)) return false;
    return is_diverging(way) == (end == StepEnd::kDivergence);
}

bool is_array(std::uint64_t component) {
    return component <= static_cast<std::uint64_t>(program::StateComponent::kSecondMoment);
}

void pick_component(Way& way, UnitFacts& facts, std::uint64_t index, const Hash256& leaf) {
    way.state.component = static_cast<std::uint32_t>(index);
    way.state.part = is_array(index) ? EndPart::kTensor : EndPart::kCounter;
    if (is_array(index)) return enter(way, facts, WayStage::kStateTensors, leaf);
    way.stage = WayStage::kWitness;
}

/// What the row folds into: the root may stand inside the leaf that was picked.
Hash256 folded(const Way& way, UnitFacts& facts, const std::vector<Hash256>& hashes) {
    const Hash256 root = base::merkle_root(hashes);
    const bool may_stand_in_leaf = way.stage == WayStage::kStateTensors || way.stage == WayStage::kTiles;
    if (!may_stand_in_leaf || !is_first_row(way, facts)) return root;
    if (way.stage == WayStage::kStateTensors) return component_leaf(way.state.component, root);
    return is_segment(facts) ? root : program::tensor_leaf(facts.tensors()[way.array.tensor], root);
}

void pick_states(Way& way, UnitFacts& facts, std::uint64_t index) {
    if (index == way.posted.size()) {
        way.first = way.last;
        way.start = way.end;
        return enter_outputs(way, facts);
    }
    const std::uint32_t first = step_behind(way, index);
    const std::uint32_t last = step_behind(way, index + 1);
    if (index > 0) way.start = way.posted[index - 1];
    way.end = way.posted[index];
    way.first = first;
    way.last = last;
    if (last - first == 1) enter_outputs(way, facts);
}

/// The output, tensor, tile or partial that a leaf is.
void pick_leaf(Way& way, UnitFacts& facts, std::uint64_t leaf, const Hash256& hash) {
    switch (way.stage) {
        case WayStage::kOutputs: {
            const StepFacts& step = facts.step(way.at.step);
            std::uint32_t at = 0;
            while (step.first_output[at + 1] <= leaf) ++at;
            way.at.operator_index = at;
            way.at.output = static_cast<std::uint32_t>(leaf) - step.first_output[at];
            return enter_tiles(way, facts, hash);
        }
        case WayStage::kTensors:
            way.array.tensor = static_cast<std::uint32_t>(leaf);
            return enter_tiles(way, facts, hash);
        case WayStage::kStateTensors:
            way.state.place = static_cast<std::uint32_t>(leaf);
            way.stage = WayStage::kWitness;
            return;
        case WayStage::kTiles: way.at.tile = way.array.tile = leaf; return enter_partials(way, facts, hash);
        default: return end_at(way, leaf, hash);
    }
}

FixedHashes fixed_hashes(const Way& way, const UnitFacts& facts) {
    const UnitClaim& claim = facts.claim();
    FixedHashes fixed{.claimed = way.picked,
                      .outputs = way.outputs,
                      .partials = way.partials,
                      .data = facts.spec().data.train,
                      .states = claim.states,
                      .arrays = claim.updates};
    if (claim.kind == UnitKind::kSegment) fixed.states = {way.start};
    return fixed;
}

GameVerdict judge_step(const Way& way, UnitFacts& facts, base::ByteView witness) {
    const StepFacts& step = facts.step(way.at.step);
    if (!way.step_end) return judge(step, way.at, fixed_hashes(way, facts), witness);
    const StepEnd end = *way.step_end;
    switch (end) {
        case StepEnd::kState:
            return judge_end(step, way.state, facts.known(way.at.step + 1), way.outputs, way.end, witness);
        case StepEnd::kLoss:
        case StepEnd::kNorm: {
            const auto& claimed = facts.claim().fingerprints[way.at.step - facts.claim().first_step];
            return judge_fingerprint(step, end == StepEnd::kNorm, claimed, way.outputs, witness);
        }
        case StepEnd::kDivergence: break;
    }
    return judge_divergence(step, way.outputs, witness);
}

}  // namespace

std::string_view to_text(WayStage stage) {
    switch (stage) {
        case WayStage::kStates: return "states";
        case WayStage::kOutputs: return "outputs";
        case WayStage::kComponents: return "components";
        case WayStage::kStateTensors: return "state_tensors";
        case WayStage::kArrays: return "arrays";
        case WayStage::kTensors: return "tensors";
        case WayStage::kTiles: return "tiles";
        case WayStage::kPartials: return "partials";
        case WayStage::kWitness: break;
    }
    return "witness";
}

Way begin_way(UnitFacts& facts) {
    const UnitClaim& claim = facts.claim();
    Way way;
    switch (claim.kind) {
        case UnitKind::kSegment:
            way.first = claim.first_step;
            way.last = claim.last_step;
            way.start = claim.states[0];
            way.end = claim.states[1];
            ASSAY_CHECK(way.first < way.last || claim.diverged_at);
            if (way.first == way.last || (way.last - way.first == 1 && !claim.diverged_at))
                enter_outputs(way, facts);
            break;
        case UnitKind::kUpdate:
            way.stage = WayStage::kWitness;
            if (!claim.diverged_at) enter(way, facts, WayStage::kTensors, claim.claimed);
            break;
        case UnitKind::kCarried: way.stage = WayStage::kWitness; break;
        case UnitKind::kMerge: way.stage = WayStage::kArrays; break;
        case UnitKind::kClip: {
            Cells clip = Cells::of({CellKind::kWhole, 1});
            clip.whole[0] = claim.clips[0];
            enter_partials(way, facts, partial_hash(clip));
            break;
        }
    }
    return way;
}

std::uint64_t wanted_hashes(const Way& way) {
    if (!way.posted.empty()) return 0;
    switch (way.stage) {
        case WayStage::kStates: return states_posted(way);
        case WayStage::kComponents: return program::kStateComponents;
        case WayStage::kArrays: return 2;
        case WayStage::kWitness: return 0;
        default: return way.row.nodes;
    }
}

bool may_post(const Way& way, UnitFacts& facts, const std::vector<Hash256>& hashes) {
    if (wanted_hashes(way) == 0 || hashes.size() != wanted_hashes(way)) return false;
    if (way.stage == WayStage::kStates) return hashes.back() == way.end;
    if (way.stage == WayStage::kArrays)
        return facts.merged_state(hashes[0], hashes[1]) == facts.claim().claimed;
    if (way.stage == WayStage::kComponents) return base::merkle_root(hashes) == way.end;
    return !way.above || folded(way, facts, hashes) == *way.above;
}

void post(Way& way, UnitFacts& facts, std::vector<Hash256> hashes) {
    ASSAY_CHECK(may_post(way, facts, hashes));
    const bool is_new = !way.above;
    if (way.stage == WayStage::kOutputs && is_new) way.outputs = base::merkle_root(hashes);
    if (way.stage == WayStage::kPartials && is_new) way.partials = base::merkle_root(hashes);
    way.posted = std::move(hashes);
}

bool may_pick(const Way& way, UnitFacts& facts, const Pick& pick) {
    if (way.posted.empty()) return false;
    if (pick.end) return pick.index == 0 && may_end_at(way, facts, *pick.end);
    const UnitClaim& claim = facts.claim();
    if (pick.index == way.posted.size()) {
        if (way.stage == WayStage::kStates) return claim.diverged_at && way.last == claim.last_step;
        return way.stage == WayStage::kPartials && is_first_row(way, facts);
    }
    if (pick.index > way.posted.size()) return false;
    if (way.stage != WayStage::kArrays) return true;
    const auto unit = pick.index == 0 ? ArrayUnit::kMergedParameters : ArrayUnit::kMergedOuter;
    return exists(facts.array(unit), ArrayPosition{});
}

void pick(Way& way, UnitFacts& facts, const Pick& pick) {
    ASSAY_CHECK(may_pick(way, facts, pick));
    const std::vector<Hash256> posted = std::move(way.posted);
    way.posted.clear();
    if (pick.end) {
        way.step_end = pick.end;
        way.stage = pick.end == StepEnd::kState ? WayStage::kComponents : WayStage::kWitness;
    } else if (way.stage == WayStage::kComponents) {
        pick_component(way, facts, pick.index, posted[pick.index]);
    } else if (way.stage == WayStage::kStates) {
        way.posted = posted;
        pick_states(way, facts, pick.index);
        way.posted.clear();
    } else if (way.stage == WayStage::kArrays) {
        way.is_outer = pick.index == 1;
        enter(way, facts, WayStage::kTensors, posted[pick.index]);
    } else if (pick.index == posted.size()) {
        end_at(way, leaves_of(way, facts), way.picked);
    } else if (way.row.height == 0) {
        pick_leaf(way, facts, way.row.first + pick.index, posted[pick.index]);
    } else {
        way.above = posted[pick.index];
        way.row = row_below(leaves_of(way, facts), way.row, way.row.first + pick.index);
    }
}

GameVerdict judge_way(const Way& way, UnitFacts& facts, base::ByteView witness) {
    ASSAY_CHECK(way.stage == WayStage::kWitness);
    const UnitClaim& claim = facts.claim();
    const FixedHashes fixed = fixed_hashes(way, facts);
    switch (claim.kind) {
        case UnitKind::kSegment: return judge_step(way, facts, witness);
        case UnitKind::kUpdate:
            if (claim.diverged_at)
                return judge_update_divergence(facts.array(ArrayUnit::kUpdate), fixed, witness);
            return judge(facts.array(ArrayUnit::kUpdate), way.array, fixed, witness);
        case UnitKind::kCarried: return judge_carried(claim.states[0], claim.claimed, witness);
        case UnitKind::kMerge: return judge(facts.array(array_unit(way, facts)), way.array, fixed, witness);
        case UnitKind::kClip: break;
    }
    return judge(facts.clip(), way.at.partial, fixed, witness);
}

}  // namespace assay::dispute
