// SPDX-License-Identifier: Apache-2.0
// Jobs on a card that has little memory, that runs out of it, or that fails: the same roots within the
// budget, or a clear error and a state that is still one.
#include <algorithm>
#include <utility>

#include "contracts/program/tile_hashes.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/cuda/emulated_card.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/step/device_failure.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer::cuda {
namespace {
constexpr CudaOptions kSizes{
    .staging = 16 * 1024, .band = 2000, .ways = {.processors = 2}};  // some products are cut

// Two small jobs: each family, each profile.
std::vector<program::JobSpec> two_jobs() {
    auto all = trainer::test::small_jobs();
    for (program::JobSpec& one : all) {
        one.model.layers = 1;
        one.train.inner_steps = 2;
        one.rounds = 1;
        one.slots = 1;
    }
    return {all[0], all[3]};
}

struct CardJob {
    explicit CardJob(program::JobSpec job)
        : spec(std::move(job)),
          train(trainer::test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1)),
          held_out(trainer::test::small_tokens(spec.data.held_out_tokens, spec.model.vocabulary, 2)) {}

    // A runner on a card of that memory, and the card.
    struct OnCard {
        std::unique_ptr<JobRunner> runner;
        EmulatedCard* card = nullptr;
    };
    [[nodiscard]] base::Outcome<OnCard> open(std::uint64_t memory, const RunnerOptions& options = {}) const {
        auto device = std::make_unique<CudaHostDevice>(2, EmulatedOptions{.memory = memory}, kSizes);
        EmulatedCard* const card = &device->emulated();
        ASSAY_ASSIGN(auto runner, JobRunner::create(spec, {train}, {held_out}, options, std::move(device)));
        return OnCard{std::move(runner), card};
    }
    // All that a round leaves.
    struct Left {
        base::Hash256 state, update, merged;
        std::uint32_t loss = 0;
        friend bool operator==(const Left&, const Left&) = default;
    };
    [[nodiscard]] Left round_on(JobRunner& runner) const {
        Left left;
        const BaseState base = runner.initial();
        const SlotRoundOutcome round = runner.run_slot_round(base, 0, 0, std::nullopt, {}, {}).value();
        left.state = round.trace.boundaries.back();
        REQUIRE(left.state == runner.state_root(round.end));
        left.update = runner.update_root(*round.update);
        const AcceptedUpdate accepted{.slot = 0, .weight = 1, .update = &*round.update};
        left.merged = runner.base_root(runner.merge(base, {&accepted, 1}).value());
        left.loss = runner.evaluate_held_out(round.end.parameters, 3, {}).value().loss.bits;
        return left;
    }
    program::JobSpec spec;
    std::vector<std::uint32_t> train, held_out;
};

bool is_same_state(const SlotState& a, const SlotState& b) {
    return a.step == b.step && a.cursor == b.cursor && trainer::test::same(a.parameters, b.parameters) &&
           trainer::test::same(a.first_moment, b.first_moment) &&
           trainer::test::same(a.second_moment, b.second_moment);
}
}  // namespace

TEST_CASE("hashes of an output's tiles are the law's, however little room their digests have",
          "[trainer][cuda][memory]") {
    // Rows of tiles that end in the middle, columns that do, and one number.
    constexpr std::pair<std::uint64_t, std::uint64_t> kShapes[] = {{1, 1}, {150, 33}, {33, 150}, {500, 3}};
    for (const std::uint64_t band : {1U, 600U, 1U << 20U}) {
        CudaHostDevice device(2, EmulatedOptions{}, CudaOptions{.band = band});
        for (const auto& [rows, cols] : kShapes) {
            INFO(rows << " x " << cols << ", parts of " << band << " numbers");
            std::vector<float> matrix(rows * cols);
            for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i) * 0.5F;
            std::vector<base::Hash256> law(arithmetic::tile_count(rows, cols)), found(law.size());
            program::tile_hashes(rows, cols, matrix, base::hash_one_by_one, law);
            device.tile_hashes(cols, matrix, found);
            CHECK(found == law);
        }
    }
}

TEST_CASE("a job on a card with little memory has the same roots, and takes no more than it may",
          "[trainer][cuda][memory]") {
    for (const program::JobSpec& spec : two_jobs()) {
        const CardJob job(spec);
        const auto free = job.open(0).value();
        const CardJob::Left wanted = job.round_on(*free.runner);
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        // From what is plenty down to what is not enough.
        std::uint64_t memory = 8U << 20U;
        bool offloaded = false;
        std::string refused;
        std::optional<AllocationPlan> before;
        for (; refused.empty(); memory -= memory / 16) {
            REQUIRE(memory > 1024);
            const CudaHostDevice device(1, EmulatedOptions{.memory = memory}, kSizes);
            const auto evaluation = program::build_evaluate_program(spec.model, spec.profile);
            PlanLimits limits{.batch = spec.train.batch, .bytes = memory, .device = "cuda-host"};
            limits.reserved = smallest_plan(evaluation, device, limits.batch).bytes();
            const auto plan = choose_plan(program, device, limits);
            if (!plan.ok()) {
                const auto opened = job.open(memory);
                REQUIRE_FALSE(opened.ok());
                CHECK(opened.error().kind == base::ErrorKind::kPreflight);
                refused = opened.error().what;
                break;
            }
            REQUIRE(state_bytes(program, plan.value().choice) + plan.value().bytes() <= memory);
            // Each plan once.
            const bool is_new = !before || before->block != plan.value().block ||
                                before->choice.offload_moments != plan.value().choice.offload_moments;
            before = plan.value();
            if (!is_new) continue;
            offloaded = offloaded || plan.value().choice.offload_moments;
            INFO(spec.name << ", memory " << memory << ", micro-batch " << plan.value().choice.micro_batch
                           << ", again " << to_text(plan.value().choice.rematerialise) << ", offload "
                           << plan.value().choice.offload_moments);
            const auto opened = job.open(memory).value();
            REQUIRE(job.round_on(*opened.runner) == wanted);
            REQUIRE(opened.card->counts().peak <= memory);
        }
        CHECK(offloaded);
        CHECK(refused.find("on cuda-host, which has") != std::string::npos);
    }
}

TEST_CASE("the host's budget holds the state beside a card, and what is offloaded",
          "[trainer][cuda][memory]") {
    const CardJob job(two_jobs().front());
    RunnerOptions options;
    options.memory = 1024;
    const auto refused = job.open(std::uint64_t{64} << 20U, options);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kPreflight);
    CHECK(refused.error().what.find("beside cuda-host") != std::string::npos);
    options.memory = 4U << 20U;
    CHECK(job.open(std::uint64_t{64} << 20U, options).ok());
}

TEST_CASE("a card that runs out of memory in a segment leaves a state of the job",
          "[trainer][cuda][memory]") {
    const CardJob job(two_jobs().front());
    auto on_card = job.open(0).value();
    JobRunner& runner = *on_card.runner;
    const SlotState start = runner.start(runner.initial(), nullptr).value();
    SlotState undisturbed = start;
    const std::uint64_t before = on_card.card->counts().allocations;
    REQUIRE(runner.run_segment(undisturbed, {0, 0, 0}, {}).ok());
    const std::uint64_t allocations = on_card.card->counts().allocations - before;
    REQUIRE(allocations > 10);
    std::uint64_t failures = 0;
    for (std::uint64_t at = 0; at < allocations; ++at) {
        auto fresh = job.open(0).value();
        SlotState state = start;
        fresh.card->set_troubles({.no_memory_at = at});
        const auto failed = fresh.runner->run_segment(state, {0, 0, 0}, {});
        if (failed.ok()) continue;  // it asked for less
        ++failures;
        INFO("allocation " << at << ": " << failed.error().what);
        CHECK(failed.error().kind == base::ErrorKind::kFailure);
        CHECK(failed.error().what.find("cuda-host has not enough memory") == 0);
        REQUIRE(is_same_state(state, start));
        // The same runner goes on once there is memory again.
        fresh.card->set_troubles({});
        REQUIRE(fresh.runner->run_segment(state, {0, 0, 0}, {}).ok());
        REQUIRE(is_same_state(state, undisturbed));
    }
    CHECK(failures > allocations / 2);
}

TEST_CASE("no root is given of a card that is lost before its hashes have come back", "[trainer][cuda]") {
    const CardJob job(two_jobs().front());
    auto on_card = job.open(0).value();
    const BaseState base = on_card.runner->initial();
    const std::uint64_t before = on_card.card->counts().calls;
    const base::Hash256 root = on_card.runner->base_root(base);
    const std::uint64_t calls = on_card.card->counts().calls - before;
    REQUIRE(calls > 4);
    std::uint64_t refused = 0;
    for (std::uint64_t at = 0; at < calls; ++at) {
        auto fresh = job.open(0).value();
        fresh.card->set_troubles({.lost_at = at});
        try {
            const base::Hash256 given = fresh.runner->base_root(base);
            CHECK(given == root);
        } catch (const DeviceFailure& failure) {
            CHECK(failure.error().kind == base::ErrorKind::kUnreachable);
            ++refused;
        }
    }
    CHECK(refused > calls / 2);
}

TEST_CASE("a card that fails is refused by name, and the host's state is as it was", "[trainer][cuda]") {
    const CardJob job(two_jobs().front());
    auto on_card = job.open(0).value();
    const SlotState start = on_card.runner->start(on_card.runner->initial(), nullptr).value();
    SlotState undisturbed = start;
    const CardCounts before = on_card.card->counts();
    REQUIRE(on_card.runner->run_segment(undisturbed, {0, 0, 0}, {}).ok());
    const std::uint64_t calls = on_card.card->counts().calls - before.calls;
    const std::uint64_t launches = on_card.card->counts().launches - before.launches;
    constexpr std::uint64_t kTries = 23;
    std::uint64_t emptied = 0;
    const auto require_refused = [&](const CardTroubles& troubles) {
        auto fresh = job.open(0).value();
        SlotState state = start;
        fresh.card->set_troubles(troubles);
        const auto failed = fresh.runner->run_segment(state, {0, 0, 0}, {});
        REQUIRE_FALSE(failed.ok());
        CHECK(failed.error().kind == base::ErrorKind::kUnreachable);
        CHECK(failed.error().what.find("cuda-host is lost") == 0);
        // While the arrays come back none may be half of one step and half of another.
        if (!state.parameters.empty()) REQUIRE(is_same_state(state, start));
        emptied += state.parameters.empty() ? 1U : 0U;
        // It stays refused.
        CHECK_FALSE(fresh.runner->run_segment(state, {0, 0, 0}, {}).ok());
    };
    for (std::uint64_t i = 0; i < kTries; ++i) {
        require_refused({.lost_at = calls * i / kTries});
        require_refused({.bad_launch = launches * i / kTries});
    }
    CHECK(emptied < kTries / 2);
}

}  // namespace assay::trainer::cuda
