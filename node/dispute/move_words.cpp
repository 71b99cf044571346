// SPDX-License-Identifier: Apache-2.0
#include "node/dispute/move_words.hpp"

namespace assay::node {

using dispute::Pick;
using dispute::StepEnd;
using dispute::UnitKind;
using dispute::Way;
using dispute::WayStage;

namespace {

std::string step_name(const Way& way, const dispute::UnitFacts& facts) {
    return "step " + std::to_string(way.first) + " of segment " + std::to_string(facts.claim().segment);
}

std::string steps_between(const Way& way, const dispute::UnitFacts& facts) {
    return "steps " + std::to_string(way.first) + " and " + std::to_string(way.last) + " of segment " +
           std::to_string(facts.claim().segment);
}

std::string output_name(const Way& way, dispute::UnitFacts& facts) {
    const program::Operator& one = facts.step(way.at.step).program->operators[way.at.operator_index];
    return "`" + one.name + "` " + std::string(one.row().outputs[way.at.output].name);
}

std::string what_is_open(const Way& way, dispute::UnitFacts& facts) {
    if (facts.claim().kind == UnitKind::kSegment) {
        if (way.stage == WayStage::kOutputs) return "outputs of " + step_name(way, facts);
        if (way.stage == WayStage::kTiles || way.stage == WayStage::kPartials)
            return std::string(to_text(way.stage)) + " of " + output_name(way, facts) + ", " +
                   step_name(way, facts);
        return "parts of the state behind " + step_name(way, facts);
    }
    const std::string unit = describe_unit(facts.claim());
    if (way.stage == WayStage::kTiles || way.stage == WayStage::kPartials) {
        const bool clip = facts.claim().kind == UnitKind::kClip;
        const std::string tensor = clip ? "" : "`" + facts.tensors()[way.array.tensor].name + "` in ";
        return std::string(to_text(way.stage)) + " of " + tensor + unit;
    }
    return std::string(to_text(way.stage)) + " of " + unit;
}

}  // namespace

std::string describe_unit(const dispute::UnitClaim& claim) {
    const std::string round = " of round " + std::to_string(claim.round);
    const std::string slot = " of slot " + std::to_string(claim.slot) + round;
    switch (claim.kind) {
        case UnitKind::kSegment: return "segment " + std::to_string(claim.segment) + slot;
        case UnitKind::kUpdate: return "the update" + slot;
        case UnitKind::kCarried: return "what is handed on" + slot;
        case UnitKind::kMerge: return "the merge" + round;
        case UnitKind::kClip: return "the clip" + slot;
    }
    return "a unit";
}

std::string describe_post(const Way& way, dispute::UnitFacts& facts) {
    const std::string count = std::to_string(dispute::wanted_hashes(way)) + " hashes: ";
    if (way.stage == WayStage::kStates) return count + "states between " + steps_between(way, facts);
    return count + what_is_open(way, facts);
}

std::string describe_pick(const Way& way, dispute::UnitFacts& facts, const Pick& pick) {
    Way after = way;
    dispute::pick(after, facts, pick);
    if (pick.end == StepEnd::kState) return "the state behind " + step_name(way, facts);
    if (after.stage == WayStage::kWitness) return dispute::describe_way(after, facts);
    if (way.stage == WayStage::kStates)
        return after.stage == WayStage::kStates ? steps_between(after, facts) : step_name(after, facts);
    if (after.stage == way.stage) return "some of the " + what_is_open(after, facts);
    switch (way.stage) {
        case WayStage::kOutputs: return output_name(after, facts) + ", " + step_name(after, facts);
        case WayStage::kComponents:
            return "component " + std::to_string(after.state.component) + " of the state behind " +
                   step_name(after, facts);
        case WayStage::kArrays: return after.is_outer ? "the merged momentum" : "the merged parameters";
        case WayStage::kTensors: return "`" + facts.tensors()[after.array.tensor].name + "`";
        default: break;
    }
    return "tile " + std::to_string(way.row.first + pick.index) + " of " + what_is_open(way, facts);
}

}  // namespace assay::node
