// SPDX-License-Identifier: Apache-2.0
// A job runner answers what a player of a dispute asks about its slot's steps, on any device, from any state
// of the segment; and refuses by name what cannot be answered.
#include <limits>
#include <random>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/dispute/played_step.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {
namespace {
using dispute::Question;
using dispute::QuestionKind;

// A job with its slot 1 at the start of segment 1, which has steps 2 and 3.
struct AskedJob {
    explicit AskedJob(const program::JobSpec& job)
        : spec(job),
          train(test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1)),
          file(token_file_bytes(train, spec.model.vocabulary)),
          step(program::build_step_program(spec.model, spec.train, spec.profile)),
          facts(dispute::facts_of(spec, step, {0, 1, 3, 3})) {}

    [[nodiscard]] std::unique_ptr<JobRunner> runner(const RunnerOptions& options) const {
        return JobRunner::create(spec, {train}, {}, options).value();
    }
    [[nodiscard]] SlotState start(JobRunner& runner) const {
        SlotState state = runner.start(runner.initial()).value();
        REQUIRE(runner.run_segment(state, {0, 1, 0}, {}).ok());
        return state;
    }
    [[nodiscard]] Question about(QuestionKind kind, std::uint64_t leaves = 0) const {
        Question out;
        out.kind = kind;
        out.slot = 1;
        out.at.segment = 1;
        out.at.step = 3;
        out.row = dispute::top_row(leaves);
        return out;
    }

    program::JobSpec spec;
    std::vector<std::uint32_t> train;
    base::Bytes file;
    program::Program step;
    dispute::StepFacts facts;
};

std::vector<program::JobSpec> asked_jobs() {
    std::vector<program::JobSpec> out = test::small_jobs();
    out.push_back(test::small_job());
    out.back().name = "carried";
    out.back().inner_state = program::InnerState::kCarried;
    // With one sequence gradients of matrices lie where activations were, by operators, too.
    for (program::JobSpec spec : test::small_jobs()) {
        spec.name += ", one sequence";
        spec.train.batch = 1;
        out.push_back(std::move(spec));
    }
    return out;
}

RunnerOptions by_the_law() {
    RunnerOptions options;
    options.device.name = "reference";
    return options;
}
}  // namespace

TEST_CASE("a runner gives the same answers on the law's device and on the processor, and goes on after them",
          "[dispute]") {
    for (const program::JobSpec& spec : asked_jobs()) {
        INFO(spec.name);
        const AskedJob job(spec);
        const auto fast = job.runner(test::on_cpu(2, test::all_targets().front(), 2));
        const auto law = job.runner(by_the_law());
        const SlotState start = job.start(*fast);
        SlotState end = start;
        REQUIRE(fast->run_segment(end, {0, 1, 1}, {}).ok());
        const auto steps = fast->answer(start, job.about(QuestionKind::kSteps, 2), job.file, {});
        REQUIRE(steps.ok());
        CHECK(steps->hashes.at(1) == fast->state_root(end));
        const auto before = fast->state_before(start, job.about(QuestionKind::kOutputs), {});
        REQUIRE(before.ok());
        CHECK(steps->hashes.at(0) == fast->state_root(*before));
        Question question = job.about(QuestionKind::kOutputs, job.facts.outputs());
        const auto by_fast = fast->answer(start, question, job.file, {});
        const auto by_law = law->answer(start, question, job.file, {});
        const auto from_step = fast->answer(*before, question, job.file, {});
        REQUIRE(by_fast.ok());
        REQUIRE(by_law.ok());
        REQUIRE(from_step.ok());
        CHECK(*by_fast == *by_law);
        CHECK(*by_fast == *from_step);
        question.kind = QuestionKind::kWitness;
        for (std::uint32_t i = 0; i < job.step.operators.size(); i += 9) {
            question.at.operator_index = i;
            const auto witness = fast->answer(start, question, job.file, {});
            REQUIRE(witness.ok());
            CHECK(*witness == *law->answer(start, question, job.file, {}));
        }
        SlotState again = start;
        REQUIRE(fast->run_segment(again, {0, 1, 1}, {}).ok());
        CHECK(again == end);
    }
}

TEST_CASE("a fault of an earlier step stands in every later answer", "[dispute]") {
    const AskedJob job(test::small_job());
    const auto runner = job.runner(test::on_cpu(1, test::all_targets().front()));
    const SlotState start = job.start(*runner);
    Question question = job.about(QuestionKind::kSteps, 2);
    const auto honest = runner->answer(start, question, job.file, {});
    question.fault = dispute::QuestionFault{2, 0, 0, 0, 1U << 20U};
    const auto faulty = runner->answer(start, question, job.file, {});
    REQUIRE(honest.ok());
    REQUIRE(faulty.ok());
    CHECK(faulty->hashes.at(0) != honest->hashes.at(0));
    CHECK(faulty->hashes.at(1) != honest->hashes.at(1));
    question.kind = QuestionKind::kOutputs;
    const auto before = runner->state_before(start, question, {});
    REQUIRE(before.ok());
    CHECK(runner->state_root(*before) == faulty->hashes.at(0));
    // The step after it is honest work on what it left.
    question.row = dispute::top_row(job.facts.outputs());
    const auto outputs = runner->answer(start, question, job.file, {});
    question.fault.reset();
    const auto of_honest_step = runner->answer(*before, question, job.file, {});
    REQUIRE(outputs.ok());
    REQUIRE(of_honest_step.ok());
    CHECK(*outputs == *of_honest_step);
}

TEST_CASE("a runner refuses questions of no place, of another state, behind a divergence, or cancelled",
          "[dispute]") {
    const AskedJob job(test::small_job());
    const auto runner = job.runner(test::on_cpu(1, Target::kScalar));
    const SlotState start = job.start(*runner);
    const auto kind = [&](const SlotState& state, const Question& question) {
        const auto out = runner->answer(state, question, job.file, {});
        REQUIRE_FALSE(out.ok());
        return out.error().kind;
    };
    const Question tiles = job.about(QuestionKind::kTiles, job.facts.tiles(job.facts.output(0, 0)));
    REQUIRE(runner->answer(start, tiles, job.file, {}).ok());
    Question question = tiles;
    question.round = job.spec.rounds;
    CHECK(kind(start, question) == base::ErrorKind::kUsage);
    question = tiles;
    question.at.output = 7;
    CHECK(kind(start, question) == base::ErrorKind::kUsage);
    question = tiles;
    question.diverged_at = static_cast<std::uint32_t>(job.step.operators.size());
    CHECK(kind(start, question) == base::ErrorKind::kUsage);
    SlotState other = start;
    other.cursor += 1;
    CHECK(kind(other, tiles) == base::ErrorKind::kVerification);
    other = start;
    other.first_moment.pop_back();
    CHECK(kind(other, tiles) == base::ErrorKind::kVerification);
    other = start;
    other.parameters[3] = std::numeric_limits<float>::quiet_NaN();
    CHECK(kind(other, tiles) == base::ErrorKind::kUsage);
    other = start;
    std::fill(other.parameters.begin(), other.parameters.end(), 3e38F);
    CHECK(kind(other, tiles) == base::ErrorKind::kRejected);  // the step before it
    const auto steps = runner->answer(other, job.about(QuestionKind::kSteps, 2), job.file, {});
    REQUIRE(steps.ok());  // the state stays as it was
    CHECK(steps->hashes == std::vector<base::Hash256>(2, runner->state_root(other)));
    std::atomic<bool> cancel = true;
    Watch watch;
    watch.cancel = &cancel;
    CHECK(runner->answer(start, tiles, job.file, watch).error().kind == base::ErrorKind::kInterrupted);
}

TEST_CASE(
    "a runner rematerialises more where a step by its operators would take more than one output besides",
    "[dispute][memory]") {
    for (program::JobSpec spec : test::small_jobs()) {
        spec.model.layers = 6;
        spec.model.context = 48;
        spec.model.vocabulary = 3'000;
        for (const std::uint32_t batch : {1U, 4U}) {
            INFO(spec.name << ", " << batch << " sequences");
            spec.train.batch = batch;
            const AskedJob job(spec);
            test::PeakArena arena;
            RunnerOptions options = test::on_cpu(1, test::all_targets().front());
            options.device.cpu.arena = &arena;
            const auto runner = job.runner(options);
            const SlotState start = job.start(*runner);
            const Question question = job.about(QuestionKind::kOutputs, job.facts.outputs());
            REQUIRE(runner->answer(start, question, job.file, {}).ok());
            const CpuDevice device(test::all_targets().front(), 1, nullptr);
            // What every budget holds: the plan that a step gets, and the smallest.
            const std::uint64_t held = std::max(choose_plan(job.step, device, {batch, 0, 0}).value().floats(),
                                                smallest_plan(job.step, device, batch).floats());
            CHECK(arena.peak <= held + largest_output(job.facts));
            CHECK(arena.held() == 0);
        }
    }
}

TEST_CASE("a row of a tree is one that its tree has", "[dispute]") {
    for (std::uint64_t leaves = 0; leaves < 40; ++leaves) {
        std::vector<base::Hash256> hashes(leaves);
        const dispute::StoredTree tree(std::move(hashes));
        std::uint64_t width = leaves;
        for (std::uint32_t height = 0; height < 66; ++height) {
            const std::uint64_t nodes =
                height == 0 || width > 1 ? (height == 0 ? leaves : (width + 1) / 2) : 0;
            width = nodes;
            for (std::uint64_t first = 0; first < 42; ++first) {
                for (const std::uint64_t count : {0UL, 1UL, 2UL, 39UL}) {
                    const bool there = count > 0 && first + count <= nodes;
                    REQUIRE(dispute::is_row(leaves, {height, first, count}) == there);
                }
            }
            if (nodes > 0) REQUIRE(tree.row(height).size() == nodes);
        }
    }
    CHECK_FALSE(dispute::is_row(5, {0, UINT64_MAX, 2}));
    CHECK_FALSE(dispute::is_row(UINT64_MAX, {0, 0, dispute::kMaxMoveHashes + 1}));
}

namespace {
// Mostly small numbers, sometimes any.
class AnyNumber {
public:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    std::uint64_t about(std::uint64_t end) { return below(12) == 0 ? random_() : below(end); }
    std::uint32_t word(std::uint64_t end) { return static_cast<std::uint32_t>(about(end)); }

private:
    std::mt19937_64 random_{20261123};
};

Question any_question(AnyNumber& any, std::uint64_t operators) {
    Question out;
    out.kind = static_cast<QuestionKind>(2 + any.below(8));
    out.at = {0, 1, any.word(operators), any.word(2), any.about(3), any.about(3)};
    out.row = {any.word(3), any.about(2), any.about(4)};
    out.end = {any.below(2) == 0 ? dispute::EndPart::kTensor : dispute::EndPart::kCounter, any.word(9),
               any.word(14)};
    if (any.below(5) == 0) out.diverged_at = static_cast<std::uint32_t>(any.below(operators));
    if (any.below(3) == 0)
        out.fault = dispute::QuestionFault{1, any.word(60), any.word(2), any.about(100), any.word(1)};
    if (out.fault) out.fault->flip = static_cast<std::uint32_t>(any.below(UINT32_MAX));
    return out;
}
}  // namespace

TEST_CASE("any question has an answer or a refusal", "[dispute]") {
    AnyNumber any;
    for (const std::size_t variant : {0U, 1U, 2U, 3U}) {
        disputed::Step step;
        disputed::make_step(step, disputed::small_variants()[variant]);
        std::size_t answered = 0;
        for (int i = 0; i < 150; ++i) {
            if (test::ask(step, any_question(any, step.program.operators.size())).ok()) ++answered;
        }
        CHECK(answered > 15);
        CHECK(answered < 135);
    }
}

}  // namespace assay::trainer
