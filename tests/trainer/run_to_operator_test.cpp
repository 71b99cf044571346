// SPDX-License-Identifier: Apache-2.0
// A dispute comes down to one operator of one step: what it wrote is the same on every device and with any
// micro-batch, and is what the step itself computes.
#include <limits>

#include "contracts/program/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::trainer {
namespace {

struct DisputedJob {
    explicit DisputedJob(const program::JobSpec& job)
        : spec(job),
          train(test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1)),
          step(program::build_step_program(spec.model, spec.train, spec.profile)) {}

    [[nodiscard]] std::unique_ptr<JobRunner> runner(const RunnerOptions& options) const {
        return JobRunner::create(spec, {train}, {}, options).value();
    }
    /// The slot's state at the start of segment 1.
    [[nodiscard]] SlotState second_segment(JobRunner& runner) const {
        SlotState state = runner.start(runner.initial()).value();
        REQUIRE(runner.run_segment(state, {0, 1, 0}, {}).ok());
        return state;
    }

    program::JobSpec spec;
    std::vector<std::uint32_t> train;
    program::Program step;
};

RunnerOptions by_the_law() {
    RunnerOptions options;
    options.device.name = "reference";
    return options;
}

// The last step of segment 1: one step of it runs before.
OperatorPlace at(std::uint32_t index) { return {.round = 0, .slot = 1, .step = 3, .operator_index = index}; }

}  // namespace

TEST_CASE("every operator of a step leaves the same bits on the law's device and on the processor",
          "[trainer]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        const DisputedJob job(spec);
        const auto law = job.runner(by_the_law());
        const auto fast = job.runner(test::on_cpu(2, test::all_targets().front(), 2));
        const SlotState start = job.second_segment(*fast);
        REQUIRE(law->state_root(job.second_segment(*law)) == fast->state_root(start));
        for (std::uint32_t i = 0; i < job.step.operators.size(); ++i) {
            INFO(i << ", " << job.step.operators[i].name);
            const auto by_law = law->run_to_operator(start, at(i), {});
            const auto by_fast = fast->run_to_operator(start, at(i), {});
            REQUIRE(by_law.ok());
            REQUIRE(by_fast.ok());
            REQUIRE(by_law->tensors.size() == job.step.operators[i].outputs.size());
            REQUIRE_FALSE(by_law->diverged);
            for (std::size_t t = 0; t < by_law->tensors.size(); ++t) {
                REQUIRE(test::same(by_law->tensors[t], by_fast->tensors[t]));
            }
        }
    }
}

TEST_CASE(
    "the operators that write parameters leave those of the segment's end, and a runner goes on after them",
    "[trainer]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        const DisputedJob job(spec);
        const auto runner = job.runner(test::on_cpu(2, test::all_targets().front()));
        const SlotState start = job.second_segment(*runner);
        SlotState end = start;
        REQUIRE(runner->run_segment(end, {0, 1, 1}, {}).ok());
        std::size_t found = 0;
        for (std::uint32_t i = 0; i < job.step.operators.size(); ++i) {
            const program::Operator& one = job.step.operators[i];
            for (std::size_t t = 0; t < one.outputs.size(); ++t) {
                if (job.step.tensors[one.outputs[t]].role != program::TensorRole::kParameter) continue;
                const program::TensorInfo& info = job.step.parameters[one.outputs[t]];
                const auto out = runner->run_to_operator(start, at(i), {});
                REQUIRE(out.ok());
                const auto first = end.parameters.begin() + static_cast<std::ptrdiff_t>(info.offset);
                REQUIRE(
                    test::same(out->tensors[t], {first, first + static_cast<std::ptrdiff_t>(info.size())}));
                ++found;
            }
        }
        REQUIRE(found == job.step.parameters.size());
        SlotState again = start;
        REQUIRE(runner->run_segment(again, {0, 1, 1}, {}).ok());
        REQUIRE(runner->state_root(again) == runner->state_root(end));
    }
}

TEST_CASE("a place beyond the job, a state of another place and a step that diverged are refused by name",
          "[trainer]") {
    const DisputedJob job(test::small_job());
    const auto runner = job.runner(test::on_cpu(1, Target::kScalar));
    const SlotState start = job.second_segment(*runner);
    const auto kind = [&](const SlotState& state, OperatorPlace place) {
        const auto out = runner->run_to_operator(state, place, {});
        REQUIRE_FALSE(out.ok());
        return out.error().kind;
    };
    const auto operators = static_cast<std::uint32_t>(job.step.operators.size());
    CHECK(kind(start, at(operators)) == base::ErrorKind::kUsage);
    CHECK(kind(start, {0, 1, job.spec.train.inner_steps, 0}) == base::ErrorKind::kUsage);
    CHECK(kind(start, {job.spec.rounds, 1, 3, 0}) == base::ErrorKind::kUsage);
    CHECK(kind(start, {0, job.spec.slots, 3, 0}) == base::ErrorKind::kUsage);
    CHECK(kind(start, {0, 1, 0, 0}) == base::ErrorKind::kUsage);  // a step of another segment
    SlotState broken = start;
    broken.parameters[3] = std::numeric_limits<float>::quiet_NaN();
    CHECK(kind(broken, at(0)) == base::ErrorKind::kUsage);
    SlotState huge = start;
    std::fill(huge.parameters.begin(), huge.parameters.end(), 3e38F);
    CHECK(kind(huge, at(0)) == base::ErrorKind::kRejected);  // the step before it
    const auto in_its_step = runner->run_to_operator(huge, {0, 1, 2, operators - 1}, {});
    REQUIRE(in_its_step.ok());
    CHECK(in_its_step->diverged.has_value());
    std::atomic<bool> cancel = true;
    Watch watch;
    watch.cancel = &cancel;
    CHECK(runner->run_to_operator(start, at(0), watch).error().kind == base::ErrorKind::kInterrupted);
}

}  // namespace assay::trainer
