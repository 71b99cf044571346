// SPDX-License-Identifier: Apache-2.0
// What ties a step's outputs to the trace: the state behind it, its fingerprint, its divergence.
#include <bit>

#include "contracts/arithmetic/reduce.hpp"
#include "contracts/dispute/end_referee.hpp"
#include "tests/contracts/dispute/game.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
using disputed::Step;
using program::StateComponent;

// The state behind a step, by what AdamW wrote.
struct End {
    program::StateRoots known;
    std::array<StoredTree, 3> arrays;
    StoredTree components;
};

End end_of(const Step& step, StepCommitments& commitments) {
    End out;
    out.known.step_count = 2;
    out.known.data_cursor = 2;
    const auto outputs = commitments.outputs().row(0);
    const auto& tensors = step.program.parameters;
    for (std::uint32_t component = 0; component < 3; ++component) {
        std::vector<Hash256> leaves;
        for (std::uint32_t i = 0; i < tensors.size(); ++i) {
            const auto output = end_output(step.inputs.facts, component, i);
            REQUIRE(output);
            leaves.push_back(program::tensor_leaf(tensors[i], outputs[*output]));
        }
        out.arrays[component] = StoredTree(std::move(leaves));
    }
    out.known.parameters = out.arrays[0].root();
    out.known.first_moment = out.arrays[1].root();
    out.known.second_moment = out.arrays[2].root();
    const auto leaves = program::component_leaves(out.known);
    out.components = StoredTree({leaves.begin(), leaves.end()});
    return out;
}
}  // namespace

TEST_CASE("the state behind a step is what its outputs make") {
    Step step;
    make_step(step, disputed::small_variants()[2]);
    StepCommitments honest(step.inputs);
    const End end = end_of(step, honest);
    const StepFacts& facts = step.inputs.facts;
    // The reference step gives the same state.
    program::SlotArrays state = step.inputs.state;
    std::vector<std::uint32_t> tokens;
    for (std::uint64_t sequence = 0; sequence < facts.sequences; ++sequence) {
        const std::uint64_t first = facts.first_token(sequence);
        for (std::uint64_t t = first; t <= first + facts.context(); ++t) {
            tokens.push_back(step.inputs.token_file[1024 + 2 * t] +
                             256U * step.inputs.token_file[1024 + 2 * t + 1]);
        }
    }
    const auto outcome = program::reference_step(step.program, facts.coefficients, tokens, state);
    REQUIRE(program::array_root(step.program.parameters, state.parameters) == end.known.parameters);
    REQUIRE(program::array_root(step.program.parameters, state.second_moment) == end.known.second_moment);
    const Hash256 root = program::state_root(end.known);
    const Hash256 outputs = honest.outputs().root();
    for (std::uint32_t component = 0; component < 3; ++component) {
        for (std::uint32_t i = 0; i < step.program.parameters.size(); ++i) {
            const EndPosition at{EndPart::kTensor, component, i};
            const Hash256 tensor = honest.outputs().row(0)[*end_output(facts, component, i)];
            const base::Bytes witness =
                end_witness(at, honest, end.arrays[component], end.components, tensor);
            CHECK(judge_end(facts, at, end.known, outputs, root, witness).claimant_wins());
            CHECK(to_text(judge_end(facts, at, end.known, outputs, outputs, witness).reason) == "not_opened");
            CHECK(to_text(judge_end(facts, at, end.known, root, root, witness).reason) == "not_opened");
            base::Bytes other = witness;
            other.back() ^= 1;
            CHECK_FALSE(judge_end(facts, at, end.known, outputs, root, other).claimant_wins());
            other.pop_back();
            CHECK_FALSE(judge_end(facts, at, end.known, outputs, root, other).claimant_wins());
        }
    }
    for (std::uint32_t component = 0; component < 9; ++component) {
        const EndPosition at{EndPart::kCounter, component, 0};
        const bool is_counter = component >= 3 && component < 8;
        const base::Bytes witness =
            is_counter ? end_witness(at, honest, {}, end.components, {}) : base::Bytes();
        CHECK(judge_end(facts, at, end.known, outputs, root, witness).claimant_wins() == is_counter);
        program::StateRoots other = end.known;
        other.step_count = 3;
        other.data_cursor = 3;
        other.residual.bytes[0] = 1;
        other.outer.bytes[0] = 1;
        other.generator_counter = 1;
        CHECK_FALSE(judge_end(facts, at, other, outputs, root, witness).claimant_wins());
    }
    CHECK(to_text(judge_end(facts, {EndPart::kTensor, 0, 1'000}, end.known, outputs, root, {}).reason) ==
          "position");
    REQUIRE_FALSE(outcome.diverged);
    for (const bool is_norm : {false, true}) {
        program::Fingerprint print = outcome.fingerprint;
        const base::Bytes witness = fingerprint_witness(honest, is_norm);
        CHECK(judge_fingerprint(facts, is_norm, print, outputs, witness).claimant_wins());
        (is_norm ? print.norm : print.loss) ^= 1;
        const GameVerdict verdict = judge_fingerprint(facts, is_norm, print, outputs, witness);
        CHECK(to_text(verdict.reason) == "differs");
        CHECK((verdict.claimed ^ verdict.computed) == 1);
        CHECK_FALSE(judge_fingerprint(facts, is_norm, outcome.fingerprint, root, witness).claimant_wins());
        CHECK_FALSE(judge_fingerprint(facts, is_norm, outcome.fingerprint, outputs, {}).claimant_wins());
    }
}

TEST_CASE("what a slot hands on are the moments of its end, and their age") {
    Step step;
    make_step(step, disputed::small_variants()[2]);
    StepCommitments honest(step.inputs);
    End end = end_of(step, honest);
    end.known.moment_age = 7;
    const auto handed_on = [&](std::uint64_t age) {
        return program::carried_root(end.known.first_moment, end.known.second_moment, age);
    };
    const Hash256 root = program::state_root(end.known);
    const Hash256 carried = handed_on(7);
    const base::Bytes witness = carried_witness(end.known);
    CHECK(judge_carried(root, carried, witness).claimant_wins());
    CHECK_FALSE(judge_carried(root, handed_on(8), witness).claimant_wins());
    CHECK_FALSE(judge_carried(carried, carried, witness).claimant_wins());
    CHECK_FALSE(judge_carried(root, root, witness).claimant_wins());
    for (std::size_t i = 0; i < witness.size(); i += 7) {
        base::Bytes other = witness;
        other[i] ^= 1;
        CHECK_FALSE(judge_carried(root, carried, other).claimant_wins());
    }
    CHECK(to_text(judge_carried(root, carried, {}).reason) == "witness_ends");
    for (const std::size_t size : {std::size_t{200}, std::size_t{300}, witness.size() - 1}) {
        const base::ByteView some = base::ByteView(witness).first(std::min(size, witness.size() - 1));
        CHECK(to_text(judge_carried(root, carried, some).reason) == "witness_ends");
    }
}

TEST_CASE("a divergence is a claim like any other") {
    for (const auto& variant : {disputed::small_variants()[0], disputed::small_variants()[1]}) {
        INFO(variant.name);
        Step step;
        make_step(step, variant);
        for (float& value : step.inputs.state.parameters) value *= 1e20F;
        make_roots(step);
        const StepFacts& facts = step.inputs.facts;
        // The first operator with an output that is not finite, and the tile.
        StepCommitments whole(step.inputs);
        REQUIRE(whole.diverged());
        std::optional<PartialPosition> first;
        const std::uint32_t at = *whole.diverged();
        for (std::uint32_t o = 0; o < step.program.operators[at].outputs.size() && !first; ++o) {
            for (std::uint64_t n = 0; n < facts.tiles(facts.output(at, o)) && !first; ++n) {
                const Cells cells = whole.tile_of(at, o, n);
                if (!arithmetic::all_finite(cells.real)) first = PartialPosition{0, 1, at, o, n, 0};
            }
        }
        REQUIRE(first);
        // Who goes on with it loses.
        disputed::PlayedClaim claim{*first, whole.partials(*first)};
        claim.position.partial = claim.partials.size() - 1;
        CHECK(to_text(disputed::verdict_on(step, whole, claim).reason) == "diverges");
        // Who says so wins, at that operator.
        step.inputs.facts.diverged_at = first->operator_index;
        StepCommitments ended(step.inputs, first->operator_index);
        CHECK(disputed::verdict_on(step, ended, claim).claimant_wins());
        const Hash256 outputs = ended.outputs().root();
        const base::Bytes witness = divergence_witness(ended, first->output, first->tile);
        CHECK(judge_divergence(facts, outputs, witness).claimant_wins());
        CHECK_FALSE(judge_divergence(facts, step.state_root, witness).claimant_wins());
        base::Bytes beyond = witness;
        beyond[0] = 9;
        CHECK(to_text(judge_divergence(facts, outputs, beyond).reason) == "position");
        CHECK(to_text(judge_divergence(facts, outputs, {}).reason) == "witness_ends");
        // Who says it of an operator before it loses: nothing there is beyond range.
        step.inputs.facts.diverged_at = 0;
        StepCommitments early(step.inputs, 0);
        const base::Bytes finite = divergence_witness(early, 0, 0);
        CHECK(to_text(judge_divergence(facts, early.outputs().root(), finite).reason) == "differs");
    }
}
