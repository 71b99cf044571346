// SPDX-License-Identifier: Apache-2.0
// What a worker commits to inside a step is what the reference machine commits to.
#include "contracts/dispute/commitments.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/dispute/played_step.hpp"

namespace assay::trainer {
namespace {
using dispute::Question;
using dispute::QuestionKind;

constexpr Rematerialise kLevels[] = {Rematerialise::kNothing, Rematerialise::kCheap, Rematerialise::kLayers};

dispute::TreeRow leaves_of(const dispute::StoredTree& tree) { return {0, 0, tree.leaves()}; }

std::vector<base::Hash256> row_of(const dispute::StoredTree& tree, const dispute::TreeRow& row) {
    const auto nodes = tree.row(row.height).subspan(row.first, row.nodes);
    return {nodes.begin(), nodes.end()};
}
}  // namespace

TEST_CASE("roots of all outputs of a step are those of the reference machine", "[dispute]") {
    for (const disputed::StepVariant& variant : disputed::small_variants()) {
        disputed::Step step;
        disputed::make_step(step, variant);
        const bool is_wide = step.spec.model.width > 500;
        const dispute::StepCommitments law(step.inputs);
        REQUIRE_FALSE(law.diverged());
        for (const Rematerialise rematerialise : kLevels) {
            for (const int threads : {1, 2}) {
                if (is_wide && (threads == 1) != (rematerialise == Rematerialise::kCheap)) continue;
                INFO(variant.name << ", " << to_text(rematerialise) << ", threads " << threads);
                Question question;
                question.kind = QuestionKind::kOutputs;
                question.row = leaves_of(law.outputs());
                const auto answer = test::ask(step, question, {threads, rematerialise});
                REQUIRE(answer.ok());
                const auto expected = row_of(law.outputs(), question.row);
                REQUIRE(answer->hashes.size() == expected.size());
                for (std::uint32_t i = 0; i < step.program.operators.size(); ++i) {
                    for (std::uint32_t o = 0; o < step.program.operators[i].outputs.size(); ++o) {
                        INFO(step.program.operators[i].name << " output " << o);
                        const std::uint32_t at = step.inputs.facts.first_output[i] + o;
                        CHECK(answer->hashes[at] == expected[at]);
                    }
                }
            }
        }
    }
}

}  // namespace assay::trainer
