// SPDX-License-Identifier: Apache-2.0
// Ways in words, as `payout explain`, `job show` and `audit dispute` print them.
#include "contracts/dispute/words.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;

program::JobSpec spec_of(program::Profile profile) {
    program::JobSpec spec;
    spec.profile = profile;
    spec.slots = 4;
    spec.rounds = 6;
    spec.model = {.layers = 3, .width = 512, .heads = 8, .context = 64, .vocabulary = 1'000};
    spec.train.inner_steps = 12;
    spec.train.batch = 2;
    spec.train.warmup_steps = 1;
    spec.train.max_update_norm = 1.0F;
    spec.data.train_tokens = 100'000;
    return spec;
}

UnitClaim claim_of(UnitKind kind) {
    UnitClaim claim;
    claim.kind = kind;
    claim.round = 5;
    claim.slot = 3;
    claim.segment = 2;
    claim.first_step = 6;
    claim.last_step = 9;
    claim.states.resize(2);
    claim.clips.assign(70, kNoClip);
    return claim;
}

/// A way to an output of an operator of step 7, by the operator's name.
struct NamedWay {
    NamedWay(program::Profile profile, const std::string& name, std::uint32_t output = 0)
        : spec(spec_of(profile)), claim(claim_of(UnitKind::kSegment)), facts(spec, claim) {
        const auto& operators = facts.step(7).program->operators;
        way.at.segment = 2;
        way.at.step = 7;
        way.at.output = output;
        while (operators.at(way.at.operator_index).name != name) ++way.at.operator_index;
        way.stage = WayStage::kWitness;
    }
    std::string words() { return describe_way(way, facts); }
    /// Without the unit and the step.
    std::string subject() { return disputed_place(way, facts).subject; }

    program::JobSpec spec;
    UnitClaim claim;
    UnitFacts facts;
    Way way;
};

constexpr auto kF32 = program::Profile::kF32;
}  // namespace

TEST_CASE("a way is named by slot, round, segment, step, operator, gradient, tile and term") {
    NamedWay input(kF32, "h.2.mlp.c_fc.input.backward");
    input.way.at.tile = 3 * (512 / 16) + 7;
    input.way.at.partial = 2;
    CHECK(input.words() == "slot 3, round 5, segment 2, step 7: `h.2.mlp.c_fc` dX tile (3,7), term 2");
    const DisputedPlace place = disputed_place(input.way, input.facts);
    CHECK(place.step == 7U);
    CHECK(place.tile == TileCoordinates{3, 7});
    CHECK(place.term == 2U);
    // The last partial is the tile.
    input.way.at.partial = 3;
    CHECK(input.words() == "slot 3, round 5, segment 2, step 7: `h.2.mlp.c_fc` dX tile (3,7)");
    CHECK_FALSE(disputed_place(input.way, input.facts).term);
    NamedWay exact(program::Profile::kI16, "h.2.mlp.c_fc.input.backward");
    CHECK(disputed_place(exact.way, exact.facts).partial == "maxima of block 0, term 0");
}

TEST_CASE("outputs have the names of the field") {
    const auto subject = [](const std::string& name, std::uint32_t output = 0) {
        return NamedWay(kF32, name, output).subject();
    };
    CHECK(subject("h.2.mlp.c_fc.forward") == "`h.2.mlp.c_fc` Y");
    CHECK(subject("h.2.mlp.c_fc.weight.backward") == "`h.2.mlp.c_fc` dW");
    CHECK(subject("h.2.mlp.c_fc.bias.backward") == "`h.2.mlp.c_fc` db");
    CHECK(subject("h.0.attn.query.backward") == "`h.0.attn.query` dQ");
    CHECK(subject("h.0.attn.key.backward") == "`h.0.attn.key` dK");
    CHECK(subject("h.0.attn.value.backward") == "`h.0.attn.value` dV");
    CHECK(subject("h.1.ln_1.input.backward") == "`h.1.ln_1` dX");
    CHECK(subject("h.1.ln_1.parameters.backward", 1) == "`h.1.ln_1` db");
    CHECK(subject("lm_head.input.backward") == "`lm_head` dX");
    CHECK(subject("wte.weight.adamw", 1) == "`wte.weight.adamw` m");
    CHECK(subject("norm") == "`norm` norm");
}

TEST_CASE("a way says what is known of it at every stage") {
    NamedWay named(kF32, "h.2.mlp.c_fc.input.backward");
    const std::string unit = "slot 3, round 5, segment 2";
    named.way.first = 6;
    named.way.last = 9;
    named.way.stage = WayStage::kStates;
    CHECK(named.words() == unit + ", between steps 6 and 9");
    named.way.stage = WayStage::kOutputs;
    CHECK(named.words() == unit + ", step 7");
    named.way.stage = WayStage::kTiles;
    CHECK(named.words() == unit + ", step 7: `h.2.mlp.c_fc` dX");
    named.way.stage = WayStage::kPartials;
    CHECK(named.words() == unit + ", step 7: `h.2.mlp.c_fc` dX tile (0,0)");
    named.way.step_end = StepEnd::kState;
    named.way.stage = WayStage::kComponents;
    CHECK(named.words() == unit + ", step 7: the state behind it");
    named.way.state = {EndPart::kTensor, 1, 0};
    named.way.stage = WayStage::kStateTensors;
    CHECK(named.words() == unit + ", step 7: the state behind it, first moments");
    named.way.stage = WayStage::kWitness;
    CHECK(named.words() ==
          unit + ", step 7: the state behind it, first moments, `" + named.facts.tensors()[0].name + "`");
    named.way.step_end = StepEnd::kLoss;
    CHECK(named.words() == unit + ", step 7: the loss of its fingerprint");
    named.way.step_end = StepEnd::kDivergence;
    CHECK(named.words() == unit + ", step 7: the operator at which the work ended");
}

TEST_CASE("updates, merges, clips and states are named as well") {
    const program::JobSpec spec = spec_of(kF32);
    const auto words = [&](UnitKind kind, const Way& way) {
        const UnitClaim claim = claim_of(kind);
        UnitFacts facts(spec, claim);
        return describe_way(way, facts);
    };
    Way way;
    way.stage = WayStage::kWitness;
    CHECK(words(UnitKind::kUpdate, way) == "slot 3, round 5, finalise: the update, which has no numbers");
    way.above = Hash256{};
    const std::string tensor = "`" + program::parameter_tensors(spec.model)[0].name + "`";
    CHECK(words(UnitKind::kUpdate, way) == "slot 3, round 5, finalise: update " + tensor + " tile (0,0)");
    way.is_outer = true;
    CHECK(words(UnitKind::kMerge, way) == "round 5, merge: momentum " + tensor + " tile (0,0), term 0");
    // Seventy slots are added in two terms; the tile follows.
    way.array.partial = 2;
    CHECK(words(UnitKind::kMerge, way) == "round 5, merge: momentum " + tensor + " tile (0,0)");
    way.stage = WayStage::kArrays;
    CHECK(words(UnitKind::kMerge, way) == "round 5, merge");
    way.stage = WayStage::kWitness;
    CHECK(words(UnitKind::kClip, way) == "round 5, merge, clip of slot 3: sums of squares, term 2");
    CHECK(words(UnitKind::kCarried, way) == "slot 3, round 5: what it hands on");
}

TEST_CASE("bits are as few digits as say them") {
    CHECK(bits_text(0) == "0x0");
    CHECK(bits_text(0x3f1c0a42) == "0x3f1c0a42");
    CHECK(bits_text(~base::Uint128{0}) == "0x" + std::string(32, 'f'));
}
