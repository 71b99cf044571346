// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/words.hpp"

#include <array>
#include <utility>

#include "contracts/base/check.hpp"

namespace assay::dispute {

namespace {

using program::OperatorKind;

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

/// The module that the operator belongs to, where the output's name says the rest.
std::string_view module_of(std::string_view name) {
    // Longer ends first.
    constexpr std::array<std::string_view, 7> kEnds = {
        ".parameters.backward", ".weight.backward", ".input.backward", ".tied.backward",
        ".bias.backward",       ".backward",        ".forward"};
    for (const std::string_view end : kEnds)
        if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
    return name;
}

/// The names of the field: Y = XW + b, and dX is the gradient of the loss in X.
std::string_view output_word(const program::Program& program, const program::Operator& one,
                             std::uint32_t output) {
    switch (one.kind) {
        case OperatorKind::kAttentionQueryGradient: return "dQ";
        case OperatorKind::kAttentionKeyGradient: return "dK";
        case OperatorKind::kAttentionValueGradient: return "dV";
        case OperatorKind::kAdd:
            return program.tensors[one.outputs[output]].role == program::TensorRole::kGradient ? "dX" : "Y";
        default: break;
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kWords = {{{"x", "X"},
                                                                                       {"y", "Y"},
                                                                                       {"p", "P"},
                                                                                       {"o", "O"},
                                                                                       {"qkv", "QKV"},
                                                                                       {"dx", "dX"},
                                                                                       {"dh", "dX"},
                                                                                       {"dp", "dP"},
                                                                                       {"ds", "dS"},
                                                                                       {"dqkv", "dQKV"},
                                                                                       {"dweight", "dW"},
                                                                                       {"dbias", "db"},
                                                                                       {"dtokens", "dW"}}};
    const std::string_view name = one.row().outputs[output].name;
    for (const auto& [ours, word] : kWords)
        if (name == ours) return word;
    return name;
}

std::string operator_words(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output) {
    const program::Operator& one = facts.program->operators[operator_index];
    return quoted(module_of(one.name)) + " " + std::string(output_word(*facts.program, one, output));
}

TileCoordinates coordinates(std::uint64_t tile, std::uint64_t cols) {
    const std::uint64_t across = (cols + arithmetic::kTile - 1) / arithmetic::kTile;
    return {tile / across, tile % across};
}

std::string partial_words(const PartialPlace& place) {
    const std::string term = "term " + std::to_string(place.term);
    // The sums of a product in binary32 are known by their terms alone.
    const bool is_plain = place.block == 0 && place.phase == PartialPhase::kChains;
    if (is_plain) return term;
    const bool has_blocks =
        place.block > 0 || place.phase == PartialPhase::kMaxima || place.phase == PartialPhase::kSums;
    const std::string phase(to_text(place.phase));
    return (has_blocks ? phase + " of block " + std::to_string(place.block) : phase) + ", " + term;
}

std::string_view component_words(std::uint32_t component) {
    switch (static_cast<program::StateComponent>(component)) {
        case program::StateComponent::kParameters: return "parameters";
        case program::StateComponent::kFirstMoment: return "first moments";
        case program::StateComponent::kSecondMoment: return "second moments";
        case program::StateComponent::kSteps: return "step count";
        case program::StateComponent::kResidual: return "residual";
        case program::StateComponent::kOuter: return "outer momentum";
        case program::StateComponent::kDataCursor: return "data cursor";
        case program::StateComponent::kGeneratorCounter: break;
    }
    return "generator counter";
}

std::string unit_words(const UnitClaim& claim) {
    const std::string round = "round " + std::to_string(claim.round);
    const std::string slot = "slot " + std::to_string(claim.slot);
    switch (claim.kind) {
        case UnitKind::kSegment: return slot + ", " + round + ", segment " + std::to_string(claim.segment);
        case UnitKind::kUpdate: return slot + ", " + round + ", finalise";
        case UnitKind::kMerge: return round + ", merge";
        case UnitKind::kClip: return round + ", merge, clip of " + slot;
        case UnitKind::kCarried: break;
    }
    return slot + ", " + round;
}

/// Of a partial of a step's tile.
void name_partial(const StepFacts& facts, const PartialPosition& at, DisputedPlace& out) {
    const PartialPlace place = partial_place(facts, at);
    if (place.phase == PartialPhase::kTile) return;
    out.term = place.term;
    out.partial = partial_words(place);
}

void name_output(const StepFacts& facts, const PartialPosition& at, DisputedPlace& out) {
    out.subject = operator_words(facts, at.operator_index, at.output);
}

void name_tile(const StepFacts& facts, const PartialPosition& at, DisputedPlace& out) {
    out.tile = coordinates(at.tile, facts.cols(facts.output(at.operator_index, at.output)));
}

std::string end_words(const Way& way, UnitFacts& facts) {
    const auto diverged_at = facts.claim().diverged_at;
    switch (*way.step_end) {
        case StepEnd::kLoss: return "the loss of its fingerprint";
        case StepEnd::kNorm: return "the gradient norm of its fingerprint";
        case StepEnd::kDivergence:
            return "the operator at which the work ended" +
                   (diverged_at ? ", " + quoted(facts.step(way.at.step).program->operators[*diverged_at].name)
                                : "");
        case StepEnd::kState: break;
    }
    std::string out = "the state behind it";
    if (way.stage == WayStage::kComponents) return out;
    out += ", " + std::string(component_words(way.state.component));
    const bool has_tensor = way.stage == WayStage::kWitness && way.state.part == EndPart::kTensor;
    return has_tensor ? out + ", " + quoted(facts.tensors()[way.state.place].name) : out;
}

void name_step(const Way& way, UnitFacts& facts, DisputedPlace& out) {
    if (way.stage == WayStage::kStates) {
        out.unit += ", between steps " + std::to_string(way.first) + " and " + std::to_string(way.last);
        return;
    }
    out.step = way.at.step;
    if (way.step_end) {
        out.subject = end_words(way, facts);
        return;
    }
    if (way.stage == WayStage::kOutputs) return;
    const StepFacts& step = facts.step(way.at.step);
    name_output(step, way.at, out);
    if (way.stage == WayStage::kTiles) return;
    name_tile(step, way.at, out);
    if (way.stage == WayStage::kWitness) name_partial(step, way.at, out);
}

/// Of an update, or of a merge's parameters or momentum.
void name_array(const Way& way, UnitFacts& facts, DisputedPlace& out) {
    const bool is_update = facts.claim().kind == UnitKind::kUpdate;
    // Nothing fixes an update that has no numbers.
    if (is_update && !way.above) {
        out.subject = "the update, which has no numbers";
        return;
    }
    if (way.stage == WayStage::kArrays) return;
    out.subject = is_update ? "update" : way.is_outer ? "momentum" : "parameters";
    if (way.stage == WayStage::kTensors) return;
    const program::TensorInfo& tensor = facts.tensors()[way.array.tensor];
    out.subject += " " + quoted(tensor.name);
    if (way.stage == WayStage::kTiles) return;
    out.tile = coordinates(way.array.tile, tensor.cols);
    if (way.stage != WayStage::kWitness || is_update) return;
    const std::size_t slots = facts.claim().clips.size();
    // After the sums of all slots comes the tile.
    if (slots > 0 && way.array.partial >= (slots + kTermSlots - 1) / kTermSlots) return;
    out.term = way.array.partial;
    out.partial = "term " + std::to_string(way.array.partial);
}

void name_clip(const Way& way, UnitFacts& facts, DisputedPlace& out) {
    const bool is_last = way.array.partial + 1 == partial_count(facts.clip());
    out.subject = is_last ? "the factor" : "sums of squares";
    if (way.stage != WayStage::kWitness || is_last) return;
    out.term = way.array.partial;
    out.partial = "term " + std::to_string(way.array.partial);
}

std::string joined(const DisputedPlace& place) {
    std::string out = place.unit;
    if (place.step) out += ", step " + std::to_string(*place.step);
    if (place.subject.empty()) return out;
    out += ": " + place.subject;
    if (place.tile)
        out += " tile (" + std::to_string(place.tile->row) + "," + std::to_string(place.tile->col) + ")";
    if (!place.partial.empty()) out += ", " + place.partial;
    return out;
}

}  // namespace

std::string bits_text(base::Uint128 bits) {
    std::string digits;
    for (; bits != 0 || digits.empty(); bits >>= 4U)
        digits.insert(digits.begin(), "0123456789abcdef"[static_cast<std::size_t>(bits & 15U)]);
    return "0x" + digits;
}

DisputedPlace disputed_place(const Way& way, UnitFacts& facts) {
    DisputedPlace out;
    out.unit = unit_words(facts.claim());
    switch (facts.claim().kind) {
        case UnitKind::kSegment: name_step(way, facts, out); break;
        case UnitKind::kUpdate:
        case UnitKind::kMerge: name_array(way, facts, out); break;
        case UnitKind::kClip: name_clip(way, facts, out); break;
        case UnitKind::kCarried: out.subject = "what it hands on"; break;
    }
    return out;
}

std::string describe_way(const Way& way, UnitFacts& facts) { return joined(disputed_place(way, facts)); }

std::string describe(const StepFacts& facts, const PartialPosition& position) {
    ASSAY_CHECK(exists(facts, position));
    DisputedPlace place;
    place.unit = "segment " + std::to_string(position.segment);
    place.step = position.step;
    name_output(facts, position, place);
    name_tile(facts, position, place);
    name_partial(facts, position, place);
    return joined(place);
}

}  // namespace assay::dispute
