// SPDX-License-Identifier: Apache-2.0
// Strategies as the job runner trains them: FP16 updates, and moments that outlive a round.
#include <vector>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/limits.hpp"
#include "contracts/program/reference_step.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/schedule.hpp"
#include "contracts/program/state_root.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::trainer {
namespace {

struct StrategyJob {
    explicit StrategyJob(program::JobSpec wanted)
        : spec(std::move(wanted)),
          tokens(test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1)),
          held_out(test::small_tokens(spec.data.held_out_tokens, spec.model.vocabulary, 2)),
          runner(JobRunner::create(spec, {tokens}, {held_out}, {}).value()) {}
    SlotRoundOutcome round(std::uint32_t number, std::uint32_t slot, const BaseState& base,
                           const CarriedState* carried = nullptr) {
        return runner->run_slot_round(base, number, slot, std::nullopt, {}, {}, carried).value();
    }
    program::JobSpec spec;
    std::vector<std::uint32_t> tokens, held_out;
    std::unique_ptr<JobRunner> runner;
};

program::JobSpec carrying_job() {
    program::JobSpec spec = test::small_job();
    spec.inner_state = program::InnerState::kCarried;
    return spec;
}

}  // namespace

TEST_CASE("a slot of FP16 updates trains as another, and hands in what FP16 has", "[trainer][strategies]") {
    program::JobSpec half = test::small_job();
    half.strategy = program::Strategy::kDilocoHalf;
    StrategyJob whole(test::small_job()), coded(half);
    const BaseState base = whole.runner->initial();
    const SlotRoundOutcome first = whole.round(0, 1, base), second = coded.round(0, 1, base);
    CHECK(first.end == second.end);
    CHECK(first.trace.boundaries == second.trace.boundaries);
    REQUIRE((first.update && second.update));
    CHECK(first.update != second.update);
    CHECK(first.trace.update != second.trace.update);
    const base::Bytes file = encode_update(*second.update, half);
    CHECK(file.size() == 8 + 2 * coded.runner->parameter_count());
    CHECK(decode_update(file, coded.runner->parameter_count(), half).value() == *second.update);
    const BaseState merged =
        coded.runner->merge(base, std::vector<AcceptedUpdate>{{1, 1, &*second.update}}).value();
    CHECK(merged.parameters != base.parameters);
}

TEST_CASE("carried moments go on where the round before ended, and have an age", "[trainer][strategies]") {
    StrategyJob job(carrying_job());
    const std::uint32_t steps = job.spec.train.inner_steps;
    const BaseState base = job.runner->initial();
    const SlotRoundOutcome first = job.round(0, 0, base);
    REQUIRE(first.trace.carried.has_value());
    CHECK(first.trace.carried->in.is_zero());
    CHECK(first.end.age == steps);
    const CarriedState carried = carried_of(first.end);
    CHECK(first.trace.carried->out == job.runner->carried_root(carried));
    CHECK(program::is_well_formed(first.trace, job.spec));

    const BaseState next =
        job.runner->merge(base, std::vector<AcceptedUpdate>{{0, 1, &*first.update}}).value();
    const SlotState start = job.runner->start(next, &carried).value();
    CHECK(start.parameters == next.parameters);
    CHECK(start.first_moment == first.end.first_moment);
    CHECK(start.age == steps);
    const SlotRoundOutcome second = job.round(1, 0, next, &carried);
    CHECK(second.trace.carried->in == first.trace.carried->out);
    CHECK(second.end.age == 2 * steps);
    CHECK(second.end != job.round(1, 0, next).end);

    // Every step is that of the law, with the correction of the moments' own age.
    const auto program = program::build_step_program(job.spec.model, job.spec.train, job.spec.profile);
    program::SlotArrays law{next.parameters, carried.first_moment, carried.second_moment};
    const program::Schedule schedule(job.spec);
    const program::BatchMap batches(job.spec);
    for (std::uint32_t step = 0; step < steps; ++step) {
        std::vector<std::uint32_t> tokens;
        for (std::uint32_t i = 0; i < job.spec.train.batch; ++i) {
            const auto at = static_cast<std::ptrdiff_t>(batches.first_token({1, step, 0, i}));
            tokens.insert(tokens.end(), job.tokens.begin() + at,
                          job.tokens.begin() + at + job.spec.model.context + 1);
        }
        REQUIRE_FALSE(
            program::reference_step(program, schedule.at(1, step, steps + step), tokens, law).diverged);
    }
    CHECK(law.parameters == second.end.parameters);
    CHECK(law.second_moment == second.end.second_moment);
}

TEST_CASE("corrections of old moments end at exactly 1, and those of a round are as they were",
          "[trainer][strategies]") {
    program::JobSpec spec = carrying_job();
    spec.rounds = program::kMaxRounds;
    const program::Schedule carried(spec), plain(spec.train);
    for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
        CHECK(carried.at(0, step, step).correction1 == plain.at(0, step).correction1);
        CHECK(carried.at(0, step, step).correction2 == plain.at(0, step).correction2);
    }
    CHECK(carried.at(9, 0, 45).correction2 < plain.at(9, 0).correction2);
    CHECK(carried.at(0, 0, UINT64_MAX).correction1 == 1.0F);
    CHECK(carried.at(0, 0, UINT64_MAX).correction2 == 1.0F);
}

TEST_CASE("only a job that carries takes moments over, and its states say their age",
          "[trainer][strategies]") {
    StrategyJob plain(test::small_job()), carrying(carrying_job());
    const BaseState base = plain.runner->initial();
    SlotState state = plain.runner->start(base).value();
    const SlotState aged = carrying.runner->start(base).value();
    CHECK_FALSE(state.age.has_value());
    CHECK(aged.age == 0);
    // An age is in the root of every job: where nothing is carried it is the step count, 0 at the start.
    SlotState older = carrying.runner->start(base).value();
    older.age = 5;
    CHECK(plain.runner->state_root(state) == plain.runner->state_root(aged));
    CHECK(plain.runner->state_root(state) != plain.runner->state_root(older));
    const auto all = program::strategy_of(plain.spec).lane_arrays;
    CHECK(plain.runner->misfit(aged, 0, 0, all).find("does not carry") != std::string::npos);
    CHECK(carrying.runner->misfit(state, 0, 0, all).find("no age") != std::string::npos);
    const std::uint64_t count = plain.runner->parameter_count();
    const auto head_of = [](const StrategyJob& job, const SlotState& one) {
        return slot_head(one, job.runner->state_roots(one), program::strategy_of(job.spec).lane_arrays);
    };
    const base::Bytes aged_head = program::encode_state_head(head_of(carrying, aged));
    CHECK(aged_head.size() == program::file_sizes(carrying.spec).slot_head);
    CHECK(counters_of(program::decode_state_head(aged_head).value()).age == 0);
    CHECK(program::encode_state_head(head_of(plain, state)).size() ==
          program::file_sizes(plain.spec).slot_head);
    CHECK(array_file(state.parameters).size() == program::file_sizes(plain.spec).array);
    CHECK(count == state.parameters.size());

    CarriedState carried{5, state.first_moment, state.second_moment};
    CHECK_FALSE(plain.runner->start(base, &carried).ok());
    CHECK(carrying.runner->start(base, &carried).ok());
    carried.second_moment[1] = __builtin_inff();
    CHECK_FALSE(carrying.runner->start(base, &carried).ok());
    carried.second_moment.pop_back();
    CHECK_FALSE(carrying.runner->start(base, &carried).ok());
}

TEST_CASE("a round with carried moments can be resumed at any boundary", "[trainer][strategies]") {
    StrategyJob job(carrying_job());
    const BaseState base = job.runner->initial();
    const CarriedState carried = carried_of(job.round(0, 0, base).end);
    std::vector<ResumePoint> points;
    const auto keep = [&](const BoundaryReport& boundary) {
        points.push_back({boundary.so_far, boundary.state});
    };
    const auto whole = job.runner->run_slot_round(base, 0, 1, std::nullopt, keep, {}, &carried).value();
    CHECK(whole.trace.carried->in == job.runner->carried_root(carried));
    for (const ResumePoint& point : points) {
        const auto resumed = job.runner->run_slot_round(base, 0, 1, point, {}, {}).value();
        CHECK(resumed.trace == whole.trace);
    }
    // A state of another model is none to go on from.
    ResumePoint short_of = points.front();
    short_of.state.first_moment.pop_back();
    CHECK(job.runner->run_slot_round(base, 0, 1, short_of, {}, {}).error().kind == base::ErrorKind::kUsage);
    // A trace of a job that carries says what is carried.
    points.front().so_far.carried.reset();
    CHECK_FALSE(job.runner->run_slot_round(base, 0, 1, points.front(), {}, {}).ok());
}

}  // namespace assay::trainer
