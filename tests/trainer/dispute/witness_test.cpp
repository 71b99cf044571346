// SPDX-License-Identifier: Apache-2.0
// Tiles, partials and witnesses of a worker are those of the reference machine, and the referee takes them;
// what a worker claims with a fault in it leads down to the fault.
#include "contracts/dispute/commitments.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/dispute/played_step.hpp"

namespace assay::trainer {
namespace {
using dispute::Cells;
using dispute::PartialPosition;
using dispute::Question;
using dispute::QuestionKind;
using dispute::StepCommitments;
using dispute::StoredTree;

// Operators are many: each variant is computed in one of these ways.
constexpr test::StepWay kWays[] = {
    {1, Rematerialise::kNothing}, {2, Rematerialise::kCheap}, {2, Rematerialise::kLayers}};

std::vector<base::Hash256> hashes_of_leaves(const StoredTree& tree) {
    const auto row = tree.row(0);
    return {row.begin(), row.end()};
}

Question about(QuestionKind kind, const PartialPosition& at, std::uint64_t leaves = 0) {
    Question out;
    out.kind = kind;
    out.at = at;
    out.row = dispute::top_row(leaves);
    return out;
}

// Every row of a tree as a dispute posts it, first children picked.
void check_rows(const disputed::Step& step, Question question, const StoredTree& tree,
                const test::StepWay& way) {
    for (;;) {
        const auto answer = test::ask(step, question, way);
        REQUIRE(answer.ok());
        const auto row = tree.row(question.row.height).subspan(question.row.first, question.row.nodes);
        REQUIRE(answer->hashes == std::vector<base::Hash256>(row.begin(), row.end()));
        if (question.row.height == 0) return;
        question.row = dispute::row_below(tree.leaves(), question.row, question.row.first);
    }
}

dispute::FixedHashes fixed_of(const disputed::Step& step, const base::Hash256& outputs,
                              const PartialPosition& at, const std::vector<Cells>& partials) {
    const program::TensorId id = step.inputs.facts.output(at.operator_index, at.output);
    const auto extent = dispute::extent_of(step.inputs.facts.rows(id), step.inputs.facts.cols(id), at.tile);
    const bool is_last = at.partial + 1 == partials.size();
    const Cells& value = partials[at.partial];
    return {.claimed = is_last ? tile_hash(value, extent.width) : partial_hash(value),
            .outputs = outputs,
            .partials = dispute::partial_tree(partials).root(),
            .data = step.data,
            .states = {step.state_root},
            .arrays = {}};
}

// Checks one output of one operator: its tiles, and partials and witness of one of them.
void check_output(const disputed::Step& step, StepCommitments& law, PartialPosition at,
                  const test::StepWay& way) {
    const StoredTree& tiles = law.tiles_of(at.operator_index, at.output);
    check_rows(step, about(QuestionKind::kTiles, at, tiles.leaves()), tiles, way);
    at.tile = (at.operator_index * 7) % tiles.leaves();
    const std::vector<Cells> partials = law.partials(at);
    if (partials.size() > 1) {
        check_rows(step, about(QuestionKind::kPartials, at, partials.size() - 1),
                   dispute::partial_tree(partials), way);
    }
    at.partial = (at.operator_index * 5) % partials.size();
    const auto found = test::ask(step, about(QuestionKind::kWitness, at), way);
    REQUIRE(found.ok());
    REQUIRE(found->witness == dispute::make_witness(at, law, partials, dispute::partial_tree(partials)));
    const auto verdict = dispute::judge(step.inputs.facts, at,
                                        fixed_of(step, law.outputs().root(), at, partials), found->witness);
    REQUIRE(verdict.claimant_wins());
}
}  // namespace

TEST_CASE("tiles, partials and witnesses of every operator are those of the reference machine", "[dispute]") {
    std::size_t number = 0;
    for (const disputed::StepVariant& variant : disputed::small_variants()) {
        disputed::Step step;
        disputed::make_step(step, variant);
        StepCommitments law(step.inputs);
        const test::StepWay& way = kWays[number++ % std::size(kWays)];
        // Of the wide ones, whose rows are longer than a term, some.
        const std::size_t stride = step.spec.model.width > 500 ? 13 : 1;
        for (std::size_t n = number % stride; n < step.program.operators.size(); n += stride) {
            const auto i = static_cast<std::uint32_t>(n);
            for (std::uint32_t o = 0; o < step.program.operators[i].outputs.size(); ++o) {
                INFO(variant.name << ", " << step.program.operators[i].name << " output " << o);
                check_output(step, law, {0, 1, i, o, 0, 0}, way);
            }
        }
    }
}

TEST_CASE("a fault of one ulp leads down to its tile, and the referee finds it there", "[dispute]") {
    std::uint32_t number = 0;
    for (const disputed::StepVariant& variant : disputed::small_variants()) {
        disputed::Step step;
        disputed::make_step(step, variant);
        if (step.spec.model.width > 500) continue;
        const dispute::StepFacts& facts = step.inputs.facts;
        StepCommitments honest(step.inputs);
        for (std::uint32_t i = number++; i < step.program.operators.size(); i += 6) {
            const program::TensorId id = facts.output(i, 0);
            const std::uint64_t cols = facts.cols(id);
            // A number that the operator writes: of a square the first of its last row.
            const std::uint64_t element =
                (facts.rows(id) - 1) * cols + dispute::written_columns(facts, i, 0).first;
            INFO(variant.name << ", " << step.program.operators[i].name);
            const dispute::PlantedFault planted{i, 0, element, 1};
            StepCommitments law(step.inputs, std::nullopt, planted);
            const test::StepWay way = kWays[i % std::size(kWays)];
            Question question = about(QuestionKind::kOutputs, {}, facts.outputs());
            question.at.step = 1;
            question.fault = {1, i, 0, element, 1};
            const auto outputs = test::ask(step, question, way);
            REQUIRE(outputs.ok());
            REQUIRE(outputs->hashes == hashes_of_leaves(law.outputs()));
            std::uint32_t first = 0;
            while (outputs->hashes[first] == honest.outputs().row(0)[first]) ++first;
            REQUIRE(first == facts.first_output[i]);
            question.kind = QuestionKind::kTiles;
            question.at.operator_index = i;
            question.row = dispute::top_row(facts.tiles(id));
            REQUIRE(question.row.height == 0);
            const auto tiles = test::ask(step, question, way);
            REQUIRE(tiles.ok());
            const auto own = honest.tiles_of(i, 0).row(0);
            while (tiles->hashes[question.at.tile] == own[question.at.tile]) ++question.at.tile;
            const std::uint64_t across = (cols + 15) / 16;
            REQUIRE(question.at.tile == element / cols / 16 * across + element % cols / 16);
            // The operands are honest, so every partial but the last is.
            const std::vector<Cells> partials = law.partials(question.at);
            question.at.partial = partials.size() - 1;
            question.kind = QuestionKind::kWitness;
            const auto found = test::ask(step, question, way);
            REQUIRE(found.ok());
            const auto verdict =
                dispute::judge(facts, question.at,
                               fixed_of(step, law.outputs().root(), question.at, partials), found->witness);
            CHECK(verdict.reason == dispute::GameReason::kDiffers);
            CHECK((verdict.claimed ^ verdict.computed) == 1);
        }
    }
}

}  // namespace assay::trainer
