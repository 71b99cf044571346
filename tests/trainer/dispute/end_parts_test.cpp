// SPDX-License-Identifier: Apache-2.0
// What ties a step to its trace, by a worker: the state behind it, its fingerprint, its divergence. And the
// memory that all of it takes.
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/dispute/commitments.hpp"
#include "contracts/program/reference_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/dispute/played_step.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {
namespace {
using dispute::Question;
using dispute::QuestionKind;

Question about(QuestionKind kind) {
    Question out;
    out.kind = kind;
    out.at.step = 1;
    return out;
}
}  // namespace

TEST_CASE("the referee takes a worker's witnesses of a step's end and its fingerprint", "[dispute]") {
    for (const disputed::StepVariant& variant : disputed::small_variants()) {
        disputed::Step step;
        disputed::make_step(step, variant);
        if (step.spec.model.width > 500) continue;
        INFO(variant.name);
        const dispute::StepFacts& facts = step.inputs.facts;
        const dispute::StepCommitments law(step.inputs);
        const base::Hash256 outputs = law.outputs().root();
        program::SlotArrays state = step.inputs.state;
        const auto outcome =
            program::reference_step(step.program, facts.coefficients, test::tokens_of(step), state);
        program::StateRoots known;
        known.parameters = program::array_root(step.program.parameters, state.parameters);
        known.first_moment = program::array_root(step.program.parameters, state.first_moment);
        known.second_moment = program::array_root(step.program.parameters, state.second_moment);
        known.step_count = 2;
        known.data_cursor = 2;
        const base::Hash256 end = program::state_root(known);
        for (std::uint32_t component = 0; component < program::kStateComponents; ++component) {
            Question question = about(QuestionKind::kEnd);
            const bool is_array = component <= 2;
            question.end = {is_array ? dispute::EndPart::kTensor : dispute::EndPart::kCounter, component,
                            is_array ? component : 0};
            const auto found = test::ask(step, question, {2, Rematerialise::kCheap});
            REQUIRE(found.ok());
            CHECK(
                dispute::judge_end(facts, question.end, known, outputs, end, found->witness).claimant_wins());
        }
        for (const bool is_norm : {false, true}) {
            const auto found = test::ask(step, about(is_norm ? QuestionKind::kNorm : QuestionKind::kLoss));
            REQUIRE(found.ok());
            CHECK(dispute::judge_fingerprint(facts, is_norm, outcome.fingerprint, outputs, found->witness)
                      .claimant_wins());
        }
    }
}

TEST_CASE("the referee takes a worker's witness of a divergence, and a worker gives none that is not there",
          "[dispute]") {
    for (const auto& variant : {disputed::small_variants()[0], disputed::small_variants()[1]}) {
        INFO(variant.name);
        disputed::Step step;
        disputed::make_step(step, variant);
        for (float& value : step.inputs.state.parameters) value *= 1e20F;
        make_roots(step);
        const dispute::StepCommitments whole(step.inputs);
        REQUIRE(whole.diverged());
        const std::uint32_t index = *whole.diverged();
        REQUIRE(index > 0);
        step.inputs.facts.diverged_at = index;
        const dispute::StepCommitments ended(step.inputs, index);
        Question question = about(QuestionKind::kOutputs);
        question.diverged_at = index;
        question.row = dispute::top_row(ended.outputs().leaves());
        const auto outputs = test::ask(step, question);
        REQUIRE(outputs.ok());
        CHECK(dispute::StoredTree(outputs->hashes).root() == ended.outputs().root());
        question.kind = QuestionKind::kDivergence;
        const auto found = test::ask(step, question, {2, Rematerialise::kLayers});
        REQUIRE(found.ok());
        CHECK(dispute::judge_divergence(step.inputs.facts, ended.outputs().root(), found->witness)
                  .claimant_wins());
        question.diverged_at = index - 1;
        const auto none = test::ask(step, question);
        REQUIRE_FALSE(none.ok());
        CHECK(none.error().kind == base::ErrorKind::kRejected);
        // Of a step that is said to have gone on, what stands behind its divergence has no tiles.
        step.inputs.facts.diverged_at.reset();
        question = about(QuestionKind::kOutputs);
        question.row = dispute::top_row(whole.outputs().leaves());
        const auto all = test::ask(step, question);
        REQUIRE(all.ok());
        CHECK(dispute::StoredTree(all->hashes).root() == whole.outputs().root());
        // There who went on loses.
        REQUIRE(all->diverges);
        CHECK(all->diverges->operator_index == index);
        const dispute::Cells tile = whole.tile_of(index, all->diverges->output, all->diverges->tile);
        CHECK_FALSE(arithmetic::all_finite(tile.real));
        for (const QuestionKind kind : {QuestionKind::kEnd, QuestionKind::kNorm}) {
            const auto behind = test::ask(step, about(kind));
            REQUIRE_FALSE(behind.ok());
            CHECK(behind.error().kind == base::ErrorKind::kRejected);
        }
    }
}

TEST_CASE("a step by its operators takes no more than the step as it is trained, and one output",
          "[dispute][memory]") {
    for (disputed::StepVariant variant : disputed::small_variants()) {
        variant.model.layers = 3;
        if (variant.model.width > 500) continue;
        disputed::Step step;
        disputed::make_step(step, variant);
        const dispute::StepFacts& facts = step.inputs.facts;
        const std::uint64_t largest = largest_output(facts);
        for (const Rematerialise rematerialise :
             {Rematerialise::kNothing, Rematerialise::kCheap, Rematerialise::kLayers}) {
            INFO(variant.name << ", " << to_text(rematerialise));
            test::PeakArena arena;
            const CpuDevice device(Target::kScalar, 1, nullptr);
            const auto trained = plan_allocation(step.program, device, {.rematerialise = rematerialise}, 2);
            Question question = about(QuestionKind::kOutputs);
            question.row = dispute::top_row(facts.outputs());
            REQUIRE(test::ask(step, question, {1, rematerialise, &arena}).ok());
            CHECK(arena.held() == 0);
            CHECK(arena.peak > 0);
            CHECK(arena.peak <= trained.floats() + largest);
        }
    }
}

}  // namespace assay::trainer
