// SPDX-License-Identifier: Apache-2.0
#include "trainer/dispute/step_answer.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "contracts/base/check.hpp"
#include "contracts/program/state_root.hpp"

namespace assay::trainer {

namespace {
using base::ErrorKind;
using dispute::DisputeAnswer;
using dispute::PartialPosition;
using dispute::Question;
using dispute::QuestionKind;
using dispute::StoredTree;

AllocationPlan plan_of(const StepAtHand& step) {
    PlanChoice choice{
        .micro_batch = 1, .rematerialise = step.rematerialise, .grouping = Grouping::kOperators};
    const auto batch = static_cast<std::uint32_t>(step.facts.sequences);
    AllocationPlan plan = plan_allocation(*step.facts.program, step.device, choice, batch);
    for (const Rematerialise more : {Rematerialise::kCheap, Rematerialise::kLayers}) {
        if (plan.floats() <= step.most_floats) break;
        if (more <= choice.rematerialise) continue;
        choice.rematerialise = more;
        plan = plan_allocation(*step.facts.program, step.device, choice, batch);
    }
    return plan;
}

std::optional<std::uint32_t> writer_of(const dispute::StepFacts& facts, program::TensorId scalar) {
    for (std::uint32_t i = 0; i < facts.operators(); ++i) {
        const auto& outputs = facts.program->operators[i].outputs;
        if (outputs.size() == 1 && outputs[0] == scalar) return i;
    }
    return std::nullopt;
}

// A row that misplaced_question() has looked at.
DisputeAnswer row_of(const StoredTree& tree, const dispute::TreeRow& row) {
    const auto nodes = tree.row(row.height).subspan(row.first, row.nodes);
    return DisputeAnswer{{nodes.begin(), nodes.end()}, {}};
}

// One question about a step.
class StepWork {
public:
    StepWork(const StepAtHand& step, const Question& question)
        : step_(step), facts_(step.facts), question_(question) {}

    base::Outcome<DisputeAnswer> answer() {
        switch (question_.kind) {
            case QuestionKind::kSteps: ASSAY_CHECK(false);
            case QuestionKind::kOutputs: return outputs();
            case QuestionKind::kTiles: return tiles();
            case QuestionKind::kPartials: return partials();
            case QuestionKind::kWitness: return witness();
            case QuestionKind::kEnd: return end();
            case QuestionKind::kLoss:
            case QuestionKind::kNorm: return fingerprint();
            case QuestionKind::kDivergence: break;
        }
        return divergence();
    }

private:
    [[nodiscard]] std::uint32_t number() const {
        return facts_.first_output[question_.at.operator_index] + question_.at.output;
    }
    [[nodiscard]] bool is_norm() const {
        return facts_.output(question_.at.operator_index, question_.at.output) == facts_.program->norm;
    }

    // Runs operators 0 … `last`, and keeps what is wanted.
    void run(std::uint32_t last, WantedOutputs wanted) {
        executor_.emplace(*facts_.program, step_.device, plan_of(step_));
        recorder_.emplace(facts_, step_.device, *executor_, std::move(wanted), question_.fault);
        executor_->run_each(last, facts_.coefficients, step_.tokens, step_.state.at(),
                            [this](const Executor::Ran& ran) { recorder_->look(ran); });
    }
    void run_all(WantedOutputs wanted) {
        wanted.all_roots = true;
        run(facts_.operators() - 1, std::move(wanted));
    }

    [[nodiscard]] base::Failed<base::Error> behind_divergence() const {
        return base::fail(ErrorKind::kRejected, "the step diverges at operator " +
                                                    std::to_string(recorder_->not_finite()->operator_index) +
                                                    ", before that");
    }

    // The tiles from which the partials of the current tile are computed; none for the norm, whose operands
    // the executor still holds.
    [[nodiscard]] Reads operands() const {
        if (is_norm()) return {};
        return reads_of(facts_, question_.at, 0, dispute::partial_count(facts_, question_.at),
                        step_.token_file);
    }
    // The current tile and these operands.
    [[nodiscard]] WantedOutputs wanted_of(const Reads& reads) const {
        WantedOutputs out;
        for (const auto& [key, read] : reads) {
            if (read.source.from == dispute::Source::From::kOutput)
                out.tiles[read.source.number].insert(read.tiles.begin(), read.tiles.end());
        }
        out.tiles[number()].insert(question_.at.tile);
        return out;
    }
    [[nodiscard]] StateParts state_parts(const Reads& reads, const Reads& shown) const {
        program::StateRoots roots = step_.counters;
        if (!shown.empty()) set_arrays(roots);
        return {facts_, step_.device, step_.host, reads, shown, roots};
    }
    // Fills in the roots of the state's arrays as they are now.
    void set_arrays(program::StateRoots& roots) const {
        base::Hash256* const places[] = {&roots.parameters, &roots.first_moment, &roots.second_moment};
        for (std::size_t i = 0; i < step_.host.size(); ++i) {
            *places[i] = base::merkle_root(array_leaves(facts_, step_.device, step_.host[i]).leaves);
        }
    }
    [[nodiscard]] RecordedStep memory(const StateParts* state) const {
        return {facts_, *recorder_, state, step_.token_file, is_norm() ? &*executor_ : nullptr};
    }
    // All partials of the tile, the tile as it was left.
    [[nodiscard]] std::vector<dispute::Cells> all_partials(RecordedStep& memory) const {
        PartialPosition at = question_.at;
        at.partial = 0;
        std::vector<dispute::Cells> out = dispute::compute_partials(at, memory);
        const program::TensorId id = facts_.output(at.operator_index, at.output);
        const dispute::TileExtent extent = dispute::extent_of(facts_.rows(id), facts_.cols(id), at.tile);
        const dispute::Tile& tile = recorder_->tile(number(), at.tile);
        for (std::uint64_t i = 0; i < extent.height * extent.width; ++i) {
            out.back().real[i] = tile[i / extent.width * arithmetic::kTile + i % extent.width];
        }
        return out;
    }

    base::Outcome<DisputeAnswer> outputs() {
        run_all({});
        DisputeAnswer out = row_of(StoredTree(recorder_->roots()), question_.row);
        out.diverges = recorder_->not_finite();
        return out;
    }

    base::Outcome<DisputeAnswer> tiles() {
        run(question_.at.operator_index, {.trees = {number()}});
        if (!recorder_->counts(number())) return behind_divergence();
        return row_of(StoredTree(recorder_->leaves(number())), question_.row);
    }

    base::Outcome<DisputeAnswer> partials() {
        const Reads reads = operands();
        const StateParts state = state_parts(reads, {});
        run(question_.at.operator_index, wanted_of(reads));
        if (!recorder_->counts(number())) return behind_divergence();
        RecordedStep known = memory(&state);
        return row_of(dispute::partial_tree(all_partials(known)), question_.row);
    }

    base::Outcome<DisputeAnswer> witness() {
        const std::uint64_t partial = question_.at.partial;
        const Reads reads = operands();
        const Reads shown = reads_of(facts_, question_.at, partial, partial + 1, step_.token_file);
        const StateParts state = state_parts(reads, shown);
        WantedOutputs wanted = wanted_of(reads);
        for (const auto& [key, read] : shown) {
            if (read.source.from == dispute::Source::From::kOutput) wanted.trees.insert(read.source.number);
        }
        run_all(std::move(wanted));
        if (!recorder_->counts(number())) return behind_divergence();
        RecordedStep known = memory(&state);
        known.set_roots(StoredTree(recorder_->roots()));
        const std::vector<dispute::Cells> values = all_partials(known);
        return DisputeAnswer{
            {}, dispute::make_witness(question_.at, known, values, dispute::partial_tree(values))};
    }

    base::Outcome<DisputeAnswer> end() {
        run_all({});
        if (recorder_->not_finite()) return behind_divergence();
        step_.sync();
        RecordedStep known(facts_, *recorder_, nullptr, step_.token_file, nullptr);
        known.set_roots(StoredTree(recorder_->roots()));
        program::StateRoots roots = step_.counters;
        ++roots.step_count;
        ++roots.data_cursor;
        if (roots.moment_age) ++*roots.moment_age;
        set_arrays(roots);
        const auto leaves = program::component_leaves(roots);
        const StoredTree components({leaves.begin(), leaves.end()});
        const dispute::EndPosition& at = question_.end;
        if (at.part == dispute::EndPart::kCounter)
            return DisputeAnswer{{}, dispute::end_witness(at, known, {}, components, {})};
        const ArrayLeaves array = array_leaves(facts_, step_.device, step_.host[at.component]);
        return DisputeAnswer{
            {}, dispute::end_witness(at, known, StoredTree(array.leaves), components, array.roots[at.place])};
    }

    base::Outcome<DisputeAnswer> fingerprint() {
        const bool norm = question_.kind == QuestionKind::kNorm;
        const auto writer = writer_of(facts_, norm ? facts_.program->norm : facts_.program->loss);
        ASSAY_CHECK(writer);
        const std::uint32_t scalar = facts_.first_output[*writer];
        run_all({.trees = {scalar}, .tiles = {{scalar, {0}}}});
        if (!recorder_->counts(scalar)) return behind_divergence();
        RecordedStep known(facts_, *recorder_, nullptr, step_.token_file, nullptr);
        known.set_roots(StoredTree(recorder_->roots()));
        return DisputeAnswer{{}, dispute::fingerprint_witness(known, norm)};
    }

    base::Outcome<DisputeAnswer> divergence() {
        const std::uint32_t index = *facts_.diverged_at;
        WantedOutputs wanted;
        const auto outputs = facts_.program->operators[index].outputs.size();
        for (std::uint32_t o = 0; o < outputs; ++o) wanted.trees.insert(facts_.first_output[index] + o);
        wanted.not_finite = true;
        run_all(std::move(wanted));
        const auto& found = recorder_->not_finite();
        if (!found || found->operator_index != index) {
            return base::fail(ErrorKind::kRejected, "what operator " + std::to_string(index) +
                                                        " wrote is finite, or an earlier one diverged");
        }
        RecordedStep known(facts_, *recorder_, nullptr, step_.token_file, nullptr);
        known.set_roots(StoredTree(recorder_->roots()));
        return DisputeAnswer{{}, dispute::divergence_witness(known, found->output, found->tile)};
    }

    const StepAtHand& step_;
    const dispute::StepFacts& facts_;
    const Question& question_;
    std::optional<Executor> executor_;
    std::optional<StepRecorder> recorder_;
};

std::string misplaced_row(std::uint64_t leaves, const dispute::TreeRow& row) {
    return dispute::is_row(leaves, row) ? "" : "there is no such row of the tree";
}

std::string misplaced_tile(const dispute::StepFacts& facts, const Question& question) {
    const bool is_partials = question.kind == QuestionKind::kPartials;
    PartialPosition at = question.at;
    at.partial = 0;
    if (!is_partials) at.tile = 0;
    if (!dispute::exists(facts, at)) return "the step has no such tile";
    const std::uint64_t leaves = is_partials ? dispute::partial_count(facts, at) - 1
                                             : facts.tiles(facts.output(at.operator_index, at.output));
    return misplaced_row(leaves, question.row);
}
}  // namespace

std::string misplaced_question(const dispute::StepFacts& facts, const Question& question) {
    switch (question.kind) {
        case QuestionKind::kOutputs: return misplaced_row(facts.outputs(), question.row);
        case QuestionKind::kTiles:
        case QuestionKind::kPartials: return misplaced_tile(facts, question);
        case QuestionKind::kWitness:
            return dispute::exists(facts, question.at) ? "" : "the step has no such partial";
        case QuestionKind::kEnd: {
            if (facts.diverged_at) return "a step that diverged leaves the state as it was";
            const bool counter = question.end.part == dispute::EndPart::kCounter;
            const bool there =
                counter ? question.end.component < program::kStateComponents
                        : dispute::end_output(facts, question.end.component, question.end.place).has_value();
            return there ? "" : "the state behind the step has no such part";
        }
        case QuestionKind::kDivergence: return facts.diverged_at ? "" : "the question names no operator";
        case QuestionKind::kLoss:
        case QuestionKind::kNorm: return facts.diverged_at ? "a step that diverged has no fingerprint" : "";
        case QuestionKind::kSteps: break;
    }
    return "";
}

base::Outcome<DisputeAnswer> answer_step(const StepAtHand& step, const Question& question) {
    return StepWork(step, question).answer();
}

std::uint64_t largest_output(const dispute::StepFacts& facts) {
    std::uint64_t out = 0;
    for (const program::Operator& one : facts.program->operators) {
        for (const program::TensorId id : one.outputs) out = std::max(out, facts.rows(id) * facts.cols(id));
    }
    return out;
}

program::Fingerprint run_with_fault(const StepAtHand& step, const dispute::QuestionFault& fault) {
    const program::Program& program = *step.facts.program;
    Executor executor(program, step.device, plan_of(step));
    const auto writer_of = [&](program::TensorId id) {
        std::uint32_t index = 0;
        while (program.operators[index].outputs != std::vector<program::TensorId>{id}) ++index;
        return step.facts.first_output[index];
    };
    const std::uint32_t loss = writer_of(program.loss);
    const std::uint32_t norm = writer_of(program.norm);
    WantedOutputs wanted;
    wanted.tiles[loss].insert(0);
    wanted.tiles[norm].insert(0);
    StepRecorder recorder(step.facts, step.device, executor, std::move(wanted), fault);
    executor.run_each(static_cast<std::uint32_t>(step.facts.program->operators.size() - 1),
                      step.facts.coefficients, step.tokens, step.state.at(),
                      [&](const Executor::Ran& ran) { recorder.look(ran); });
    const auto bits = [&](std::uint32_t number) {
        return std::bit_cast<std::uint32_t>(recorder.tile(number, 0)[0]);
    };
    return {.loss = bits(loss), .norm = bits(norm)};
}

}  // namespace assay::trainer
