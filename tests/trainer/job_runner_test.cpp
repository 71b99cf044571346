// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/job_runner.hpp"

#include <cfenv>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/reference_step.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/schedule.hpp"
#include "contracts/program/state_root.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::trainer {
namespace {

struct Fixture {
    explicit Fixture(const RunnerOptions& options = {}, program::JobSpec job = test::small_job())
        : spec(std::move(job)),
          train(test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1)),
          held_out(test::small_tokens(spec.data.held_out_tokens, spec.model.vocabulary, 2)),
          runner(JobRunner::create(spec, {train}, {held_out}, options).value()) {}

    SlotRoundOutcome round(std::uint32_t r, std::uint32_t slot, const BaseState& base) {
        return runner->run_slot_round(base, r, slot, std::nullopt, {}, {}).value();
    }

    program::JobSpec spec;
    std::vector<std::uint32_t> train;
    std::vector<std::uint32_t> held_out;
    std::unique_ptr<JobRunner> runner;
};

// The last line of the vector; the lines above it are its recipe.
std::string golden_root() {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    std::ifstream file(std::string(source == nullptr ? "." : source) +
                       "/tests/vectors/trainer_small_run.txt");
    std::string root;
    for (std::string line; std::getline(file, line);) root = line;
    return root;
}

// Two rounds of two slots; the root of the last base state.
base::Hash256 final_root(Fixture& f) {
    BaseState base = f.runner->initial();
    for (std::uint32_t r = 0; r < f.spec.rounds; ++r) {
        const SlotRoundOutcome a = f.round(r, 0, base);
        const SlotRoundOutcome b = f.round(r, 1, base);
        const std::vector<AcceptedUpdate> accepted = {{0, 1, &*a.update}, {1, 3, &*b.update}};
        base = f.runner->merge(base, accepted).value();
    }
    return f.runner->base_root(base);
}
}  // namespace

TEST_CASE("a small run ends at the golden root on every target, thread count and micro-batch",
          "[trainer][runner]") {
    for (const Target target : test::all_targets()) {
        for (const int threads : {1, 2}) {
            for (const std::uint32_t micro_batch : {0U, 1U, 2U}) {
                INFO(to_text(target) << ", threads " << threads << ", micro-batch " << micro_batch);
                Fixture f(test::on_cpu(threads, target, micro_batch));
                CHECK(final_root(f).hex() == golden_root());
            }
        }
    }
}

// As many sequences of context + 1 tokens as `count`, `first` giving where in the file each begins.
template <class First>
std::vector<std::uint32_t> sequences(const std::vector<std::uint32_t>& file, std::uint32_t context,
                                     std::uint32_t count, First&& first) {
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto at = file.begin() + static_cast<std::ptrdiff_t>(first(i));
        tokens.insert(tokens.end(), at, at + context + 1);
    }
    return tokens;
}

TEST_CASE("packed weights that are kept outlive neither an update nor an evaluation", "[trainer][runner]") {
    constexpr std::uint32_t kBatch = 4;  // one sequence at a time: enough micro-batches to keep them
    constexpr std::uint32_t kSequences = 6;
    for (program::JobSpec spec : test::small_jobs()) {
        if (spec.profile != program::Profile::kI16) continue;
        spec.train.batch = kBatch;
        spec.security.segment_steps = 1;
        program::JobSpec smaller = spec;
        smaller.train.batch = kBatch - 1;
        const std::uint32_t context = spec.model.context;
        const auto step = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto evaluation = program::build_evaluate_program(spec.model, spec.profile);
        const program::Schedule schedule(spec.train);
        const program::BatchMap map(spec);
        for (const Target target : test::all_targets()) {
            for (const int threads : {1, 2}) {
                INFO(spec.name << ", " << to_text(target) << ", threads " << threads);
                const RunnerOptions options = test::on_cpu(threads, target, 1);
                Fixture f(options, spec);
                // Two digits of every weight of a linear layer, once for each pass.
                const std::uint64_t kept = spec.model.layers * 8 * spec.model.width * spec.model.width * 2;
                CHECK(f.runner->step_bytes() > Fixture(options, smaller).runner->step_bytes() + kept);

                SlotState state = f.runner->start(f.runner->initial()).value();
                program::SlotArrays law{state.parameters, state.first_moment, state.second_moment};
                for (std::uint32_t s = 0; s < 3; ++s) {
                    const auto batch = sequences(f.train, context, kBatch, [&](std::uint32_t i) {
                        return map.first_token({0, s, 0, i});
                    });
                    REQUIRE(f.runner->run_segment(state, {0, 0, s}, {}).ok());
                    REQUIRE_FALSE(program::reference_step(step, schedule.at(0, s), batch, law).diverged);
                    REQUIRE(state.parameters == law.parameters);
                    REQUIRE(state.first_moment == law.first_moment);
                    REQUIRE(state.second_moment == law.second_moment);
                    const auto rest = sequences(f.held_out, context, kSequences,
                                                [&](std::uint32_t i) { return std::uint64_t{i} * context; });
                    const auto found = f.runner->evaluate_held_out(state.parameters, kSequences, {}).value();
                    CHECK(found.loss.value() == program::reference_loss(evaluation, rest, law.parameters));
                }
            }
        }
    }
}

TEST_CASE("a replayed unit has the root that the trace claims", "[trainer][runner]") {
    Fixture f;
    const BaseState base = f.runner->initial();
    std::vector<SlotState> boundaries = {f.runner->start(base).value()};
    const auto whole = f.runner->run_slot_round(
        base, 1, 1, std::nullopt, [&](const BoundaryReport& report) { boundaries.push_back(report.state); },
        {});
    // Round 1 needs the base state of round 1.
    REQUIRE_FALSE(whole.ok());
    BaseState next = base;
    next.step = f.spec.train.inner_steps;
    boundaries = {f.runner->start(next).value()};
    const SlotRoundOutcome round =
        f.runner
            ->run_slot_round(next, 1, 1, std::nullopt,
                             [&](const BoundaryReport& report) { boundaries.push_back(report.state); }, {})
            .value();
    REQUIRE(program::is_well_formed(round.trace, f.spec));
    REQUIRE(boundaries.size() == program::RoundPlan(f.spec).segments() + 1);
    Fixture other(test::on_cpu(2, test::all_targets().front(), 1));
    for (std::uint32_t s = 0; s < program::RoundPlan(f.spec).segments(); ++s) {
        const auto replay = other.runner->replay_segment(boundaries[s], {1, 1, s}, {}).value();
        CHECK(replay.unit_root == program::unit_root(round.trace, f.spec, s));
        CHECK(replay.end == boundaries[s + 1]);
    }
    const auto end = other.runner->replay_finalise(next, boundaries.back()).value();
    CHECK(end.unit_root == program::unit_root(round.trace, f.spec, program::RoundPlan(f.spec).segments()));
    CHECK(end.update == round.update);

    SECTION("and not when one bit of the start differs") {
        SlotState altered = boundaries[1];
        altered.parameters[5] =
            std::bit_cast<float>(std::bit_cast<std::uint32_t>(altered.parameters[5]) ^ 1U);
        const auto replay = other.runner->replay_segment(altered, {1, 1, 1}, {}).value();
        CHECK(replay.unit_root != program::unit_root(round.trace, f.spec, 1));
    }
    SECTION("and a round resumed from a boundary ends alike") {
        program::TraceRecord so_far = round.trace;
        so_far.boundaries.resize(2);
        so_far.fingerprints.resize(boundaries[1].step);
        so_far.update = {};
        const auto resumed =
            other.runner->run_slot_round(next, 1, 1, ResumePoint{so_far, boundaries[1]}, {}, {}).value();
        CHECK(resumed.trace == round.trace);
        CHECK(resumed.update == round.update);
    }
}

TEST_CASE("roots are those of the definition", "[trainer][runner]") {
    Fixture f(test::on_cpu(2, Target::kScalar));
    const BaseState base = f.runner->initial();
    const SlotState state = f.round(0, 0, base).end;
    CHECK(f.runner->state_root(state) == program::slot_state_root(f.runner->tensors(), state.parameters,
                                                                  state.first_moment, state.second_moment,
                                                                  state.step, state.cursor));
}

TEST_CASE("training lowers the held-out loss", "[trainer][runner]") {
    Fixture f(test::on_cpu(1, test::all_targets().front()));
    const BaseState base = f.runner->initial();
    const SlotRoundOutcome round = f.round(0, 0, base);
    const auto before = f.runner->evaluate_held_out(base.parameters, 0, {}).value();
    const auto after = f.runner->evaluate_held_out(round.end.parameters, 0, {}).value();
    CHECK(before.tokens == before.sequences * f.spec.model.context);
    CHECK(after.loss.value() < before.loss.value());
    CHECK(f.runner->evaluate_held_out(base.parameters, 2, {}).value().sequences == 2);
}

TEST_CASE("a merge without updates changes the step count alone", "[trainer][runner]") {
    Fixture f;
    const BaseState base = f.runner->initial();
    BaseState expected = base;
    expected.step = f.spec.train.inner_steps;
    CHECK(f.runner->merge(base, {}).value() == expected);
}

TEST_CASE("a diverged slot ends with the state before it and no update", "[trainer][runner]") {
    Fixture f;
    BaseState base = f.runner->initial();
    const auto at = program::tensor_index(f.runner->tensors(), "ln_f.weight");
    base.parameters[f.runner->tensors()[at].offset] = 3e38F;
    const SlotRoundOutcome round = f.round(0, 0, base);
    REQUIRE(round.trace.divergence);
    CHECK(round.trace.divergence->step == 0);
    CHECK_FALSE(round.update);
    CHECK(round.trace.update.is_zero());
    CHECK(round.end.parameters == base.parameters);
    CHECK(program::is_well_formed(round.trace, f.spec));
}

TEST_CASE("numbers that are not finite are refused before any work", "[trainer][runner]") {
    constexpr float kBad[] = {std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};
    for (const program::JobSpec& spec : test::small_jobs()) {
        Fixture f({}, spec);
        const BaseState base = f.runner->initial();
        for (const float bad : kBad) {
            for (auto array : {&SlotState::parameters, &SlotState::first_moment, &SlotState::second_moment}) {
                SlotState state = f.runner->start(base).value();
                (state.*array).back() = bad;
                const auto ran = f.runner->run_segment(state, {0, 0, 0}, {});
                REQUIRE_FALSE(ran.ok());
                CHECK(ran.error().kind == base::ErrorKind::kUsage);
                CHECK(state.step == 0);
            }
            auto parameters = base.parameters;
            parameters.front() = bad;
            const auto evaluated = f.runner->evaluate_held_out(parameters, 1, {});
            REQUIRE_FALSE(evaluated.ok());
            CHECK(evaluated.error().kind == base::ErrorKind::kRejected);
            CHECK_FALSE(f.runner->sample(parameters, {{1}, 1, 1.0F, 1}).ok());
        }
    }
}

TEST_CASE("a floating-point mode that changes under a runner is refused", "[trainer][runner]") {
    Fixture f;
    const BaseState base = f.runner->initial();
    SlotState state = f.runner->start(base).value();
    const SlotState before = state;
    const SlotRoundOutcome round = f.round(0, 0, base);
    // In the middle of a segment; nothing but the runner may work in that mode.
    Watch watch;
    watch.progress = [](const auto&) { std::fesetround(FE_UPWARD); };
    const auto ran = f.runner->run_segment(state, {0, 0, 0}, watch);
    const auto evaluated = f.runner->evaluate_held_out(base.parameters, 1, {});
    const auto merged = f.runner->merge(base, std::vector<AcceptedUpdate>{{0, 1, &*round.update}});
    const auto finalised = f.runner->finalise(base, round.end);
    std::fesetround(FE_TONEAREST);
    for (const auto kind :
         {ran.error().kind, evaluated.error().kind, merged.error().kind, finalised.error().kind}) {
        CHECK(kind == base::ErrorKind::kPreflight);
    }
    CHECK(state.step == 1);  // the last whole step
    CHECK(f.runner->run_segment(state = before, {0, 0, 0}, {}).ok());
}

TEST_CASE("a sample is the same on every target and differs by seed", "[trainer][runner]") {
    const SampleRequest request{{1, 2, 3}, 30, 0.9F, 5};
    std::vector<std::vector<std::uint32_t>> samples;
    for (const Target target : test::all_targets()) {
        Fixture f(test::on_cpu(1, target));
        samples.push_back(f.runner->sample(f.runner->initial().parameters, request).value());
        CHECK(samples.back() == samples.front());
        CHECK(samples.back().size() == 30);
        SampleRequest other = request;
        other.seed = 6;
        CHECK(f.runner->sample(f.runner->initial().parameters, other).value() != samples.front());
    }
}

TEST_CASE("bad specs, options, tokens and requests are refused with a fix", "[trainer][runner]") {
    program::JobSpec spec = test::small_job();
    auto train = test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1);
    CHECK(JobRunner::create(spec, {train}, {}, test::on_cpu(0, Target::kScalar)).error().kind ==
          base::ErrorKind::kUsage);
    program::JobSpec odd = spec;
    odd.model.heads = 3;
    CHECK(JobRunner::create(odd, {train}, {}, {}).error().what.find("model.heads") != std::string::npos);
    train[77] = 999;
    CHECK(JobRunner::create(spec, {train}, {}, {}).error().what.find("token 77") != std::string::npos);
    train.pop_back();
    CHECK(JobRunner::create(spec, {train}, {}, {}).error().kind == base::ErrorKind::kUsage);
    Fixture f;
    CHECK_FALSE(f.runner->sample(f.runner->initial().parameters, {{}, 3, 1.0F, 1}).ok());
    CHECK_FALSE(f.runner->sample(f.runner->initial().parameters, {{67}, 3, 1.0F, 1}).ok());
    const std::atomic<bool> cancel = true;
    Watch watch;
    watch.cancel = &cancel;
    SlotState state = f.runner->start(f.runner->initial()).value();
    CHECK(f.runner->run_segment(state, {0, 0, 0}, watch).error().kind == base::ErrorKind::kInterrupted);
    CHECK_FALSE(f.runner->run_segment(state, {0, 0, 1}, {}).ok());
}

}  // namespace assay::trainer
