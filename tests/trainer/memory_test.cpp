// SPDX-License-Identifier: Apache-2.0
// Memory of a step: planned beforehand, taken once, and within the budget.
#include <memory>
#include <thread>

#include "contracts/program/names.hpp"
#include "contracts/program/round_law.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/allocation_count.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/cpu/kernels/products.hpp"
#include "trainer/devices/devices.hpp"
#include "trainer/host/scratch.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/round_memory.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {
namespace {

constexpr std::uint32_t kBatchOfFour = 4;

base::Outcome<AllocationPlan> plan_within(const program::Program& program, const Device& device,
                                          std::uint64_t bytes) {
    return choose_plan(program, device, {kBatchOfFour, 0, bytes});
}
}  // namespace

TEST_CASE("an executor takes what its plan says and no step takes more", "[trainer][memory]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto coefficients = program::Schedule(spec.train).at(0, 0);
        for (const Target target : test::all_targets()) {
            for (const Rematerialise rematerialise : test::kAllRematerialise) {
                INFO(spec.name << ", " << to_text(target) << ", again " << to_text(rematerialise));
                const bool keep_weights = rematerialise != Rematerialise::kCheap;
                test::ExecutorMachine machine(program, target, 2, {2, rematerialise, 30, keep_weights},
                                              kBatchOfFour);
                CHECK(machine.arena.floats * sizeof(float) ==
                      machine.executor.plan().bytes() - machine.executor.plan().device);
                const auto tokens = test::batch_of(spec, kBatchOfFour, 7);
                program::SlotArrays state = test::initial_state(spec);
                machine.step(coefficients, tokens, state);
                const std::uint64_t floats = machine.arena.floats;
                const std::uint64_t before = test::allocations();
                machine.step(coefficients, tokens, state);
                machine.step(coefficients, tokens, state);
                // What runs by its definition, as everything does on the scalar target, may ask the heap.
                if (target != Target::kScalar) CHECK(test::allocations() == before);
                CHECK(machine.arena.floats == floats);
            }
        }
    }
}

TEST_CASE(
    "threads keep no more for themselves than the plan says, and a first step takes nothing else of size",
    "[trainer][memory]") {
    constexpr int kThreads = 3;
    for (program::JobSpec spec : test::small_jobs()) {
        spec.model.context = 200;  // so that a square of scores is larger than all lists of tokens
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto coefficients = program::Schedule(spec.train).at(0, 0);
        const auto tokens = test::batch_of(spec, kBatchOfFour, 7);
        for (const Target target : test::all_targets()) {
            for (const bool keep_weights : {false, true}) {
                INFO(spec.name << ", " << to_text(target) << (keep_weights ? ", packed weights kept" : ""));
                std::uint64_t planned = 0, scratch = 0, aligned = 0, plain = 0, maxima = 0;
                // Threads that have not worked yet keep nothing; the caller is one of them.
                std::thread([&] {
                    test::ExecutorMachine machine(program, target, kThreads,
                                                  {3, Rematerialise::kNothing, 400, keep_weights},
                                                  kBatchOfFour);
                    program::SlotArrays state = test::initial_state(spec);
                    const std::uint64_t held = scratch_use().bytes;
                    const test::HeapBytes asked = test::heap_bytes();
                    machine.step(coefficients, tokens, state);
                    const AllocationPlan& plan = machine.executor.plan();
                    planned = plan.device;
                    maxima = machine.device.maxima_bytes(program, {3, plan.choice.head_rows});
                    scratch = scratch_use().bytes - held;
                    aligned = test::heap_bytes().aligned - asked.aligned;
                    plain = test::heap_bytes().plain - asked.plain;
                }).join();
                const std::uint64_t rotations =
                    spec.model.has_rotary_positions()
                        ? sizeof(float) * spec.model.context * spec.model.head_dim()
                        : 0;
                CHECK(scratch + aligned + rotations <= planned - maxima);
                const bool by_definition =
                    target == Target::kScalar && spec.profile == program::Profile::kF32;
                CHECK((scratch + aligned == 0) == by_definition);
                if (target != Target::kScalar) {
                    CHECK(plain < sizeof(float) * spec.model.context * spec.model.context);
                }
            }
        }
    }
}

TEST_CASE("less memory is bought with smaller micro-batches, then with work done again",
          "[trainer][memory]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const CpuDevice device(Target::kScalar, 2, nullptr);
        const std::uint64_t state = state_bytes(program);
        CHECK(state == 3 * sizeof(float) * program::parameter_count(spec.model));
        const AllocationPlan free = plan_within(program, device, 0).value();
        const AllocationPlan least = smallest_plan(program, device, kBatchOfFour);
        CHECK(free.choice.rematerialise == Rematerialise::kNothing);
        CHECK(free.choice.micro_batch == kBatchOfFour);
        CHECK(least.bytes() < free.bytes());
        CHECK(least.choice.micro_batch == 1);
        // The budget is kept, and a smaller one never gets the quicker plan.
        Rematerialise seen = Rematerialise::kNothing;
        for (std::uint64_t bytes = state + free.bytes(); bytes >= state + least.bytes(); bytes -= 997) {
            const auto plan = plan_within(program, device, bytes);
            REQUIRE(plan.ok());
            REQUIRE(state + plan.value().bytes() <= bytes);
            REQUIRE(plan.value().choice.rematerialise >= seen);
            seen = plan.value().choice.rematerialise;
        }
        CHECK(seen == Rematerialise::kLayers);
        const auto refused = plan_within(program, device, state + least.bytes() - 1);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kPreflight);
        CHECK(refused.error().what.find(std::to_string(state + least.bytes()) + " bytes") !=
              std::string::npos);
    }
}

TEST_CASE("without a budget a large model computes logits in parts and makes norms and activations again",
          "[trainer][memory]") {
    struct Expected {
        program::ModelConfig model;
        std::uint32_t batch;
        std::uint64_t head_rows;
        Rematerialise rematerialise;
    };
    // Nothing is allocated here. 5 M parameters: 32 MiB of logits, 50 MiB of norms and activations.
    const std::vector<Expected> expected = {
        {{.layers = 4, .width = 256, .heads = 4, .context = 256, .vocabulary = 8192},
         8,
         1024,
         Rematerialise::kNothing},
        {{.layers = 12, .width = 768, .heads = 12, .context = 256, .vocabulary = 50257},
         4,
         512,
         Rematerialise::kCheap},
        {{.layers = 2, .width = 64, .heads = 2, .context = 256, .vocabulary = 128256},
         8,
         256,
         Rematerialise::kNothing}};
    for (const Expected& one : expected) {
        for (const program::Profile profile : {program::Profile::kF32, program::Profile::kI16}) {
            INFO("width " << one.model.width << ", profile " << program::to_text(profile));
            program::TrainConfig train;
            train.batch = one.batch;
            const auto program = program::build_step_program(one.model, train, profile);
            const CpuDevice device(Target::kScalar, 1, nullptr);
            const auto plan = [&](std::uint64_t bytes) {
                return choose_plan(program, device, {one.batch, 0, bytes}).value();
            };
            const AllocationPlan free = plan(0);
            CHECK(free.choice.micro_batch == one.batch);
            CHECK(free.choice.head_rows == one.head_rows);
            CHECK(free.choice.rematerialise == one.rematerialise);
            // A budget still buys less memory with more work, and a micro-batch that is given stays.
            const std::uint64_t state = state_bytes(program);
            const AllocationPlan least = smallest_plan(program, device, one.batch);
            CHECK(plan(state + least.bytes()).choice.rematerialise == Rematerialise::kLayers);
            CHECK(choose_plan(program, device, {one.batch, 1, 0}).value().choice.micro_batch == 1);
        }
    }
}

TEST_CASE("a card gets no more heads, tokens and vocabulary than one launch can take",
          "[trainer][memory][cuda]") {
    // Nothing is allocated here.
    const auto card = open_device({.name = "cuda-host", .memory = std::uint64_t{64} << 30U}).value();
    const auto plan = [&](const program::ModelConfig& model, program::Profile profile, std::uint32_t given) {
        program::TrainConfig train;
        train.batch = 1U << 16U;
        return choose_plan(program::build_step_program(model, train, profile), *card,
                           {train.batch, given, 0, 0, "cuda-host"});
    };
    constexpr std::uint64_t kMostBlocks = 65'535;
    const program::ModelConfig many_heads{
        .layers = 1, .width = 64, .heads = 64, .context = 4, .vocabulary = 16};
    for (const std::uint32_t given : {0U, 1U << 15U}) {
        const std::uint64_t micro_batch =
            plan(many_heads, program::Profile::kF32, given).value().choice.micro_batch;
        CHECK(micro_batch == kMostBlocks / 64);
    }
    const program::ModelConfig one_head{.layers = 1, .width = 2, .heads = 1, .context = 64, .vocabulary = 16};
    CHECK(plan(one_head, program::Profile::kF32, 1U << 15U).value().choice.micro_batch == kMostBlocks / 64);
    program::ModelConfig wide{.layers = 1, .width = 65'536, .heads = 65'536, .context = 2, .vocabulary = 2};
    const auto refused = plan(wide, program::Profile::kF32, 0);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kPreflight);
    CHECK(refused.error().what == "cuda-host takes models of at most 65535 heads, and this one has 65536");
    wide.heads = 32'768;
    CHECK(plan(wide, program::Profile::kF32, 0).value().choice.micro_batch == 1);
    const program::ModelConfig words{
        .layers = 1, .width = 2, .heads = 1, .context = 2, .vocabulary = 32 * 65'535 + 1};
    CHECK(plan(words, program::Profile::kF32, 0).ok());
    CHECK_FALSE(plan(words, program::Profile::kI16, 0).ok());
}

TEST_CASE("what products pack for more threads is in the plan", "[trainer][memory]") {
    // The head's input gradient is so deep that the slabs of its logits grow with the threads.
    const program::ModelConfig model{
        .layers = 1, .width = 64, .heads = 2, .context = 256, .vocabulary = 16384};
    const auto program = program::build_step_program(model, program::TrainConfig{}, program::Profile::kI16);
    const auto packed_on = [&](int threads) {
        const CpuDevice device(Target::kScalar, threads, nullptr);
        const arithmetic::HeadShape head{model.context, model.head_dim()};
        const std::uint64_t of_threads = products(program.profile, Target::kScalar).thread_bytes(head) *
                                         static_cast<std::uint64_t>(threads);
        return device.own_bytes(program, {.sequences = 1, .head_rows = 1024}) - of_threads;
    };
    CHECK(packed_on(2) > packed_on(1));
}

TEST_CASE("packed weights are kept where enough micro-batches share them and the budget holds them",
          "[trainer][memory]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const CpuDevice device(Target::kScalar, 1, nullptr);
        const auto plan = [&](std::uint32_t micro_batch, std::uint64_t bytes) {
            return choose_plan(program, device, {kBatchOfFour, micro_batch, bytes}).value();
        };
        CHECK_FALSE(plan(2, 0).choice.keep_weights);
        const AllocationPlan kept = plan(1, 0);
        // Profile f32 packs no weight whole: there is nothing to keep.
        CHECK(kept.choice.keep_weights == (spec.profile == program::Profile::kI16));
        if (spec.profile == program::Profile::kF32) continue;
        PlanChoice choice = kept.choice;
        choice.keep_weights = false;
        const AllocationPlan packed_each_time = plan_allocation(program, device, choice, kBatchOfFour);
        // Two digits of every weight of a linear layer, once for each pass.
        const std::uint64_t least = spec.model.layers * 8 * spec.model.width * spec.model.width * 2;
        CHECK(kept.bytes() > packed_each_time.bytes() + least);
        const AllocationPlan within = plan(1, state_bytes(program) + kept.bytes() - 1);
        CHECK_FALSE(within.choice.keep_weights);
        CHECK(within.choice.head_rows == kept.choice.head_rows);
    }
}

TEST_CASE("gradients of matrices lie where activations were when a step is one micro-batch",
          "[trainer][memory]") {
    const CpuDevice device(Target::kScalar, 1, nullptr);
    for (program::JobSpec spec : test::small_jobs()) {
        INFO(spec.name);
        spec.model.layers = 12;
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto plan = [&](std::uint32_t batch, Grouping grouping) {
            PlanChoice choice{kBatchOfFour, Rematerialise::kNothing, 21};
            choice.grouping = grouping;
            return plan_allocation(program, device, choice, batch);
        };
        const AllocationPlan once = plan(kBatchOfFour, Grouping::kFused);
        const AllocationPlan again = plan(kBatchOfFour + 1, Grouping::kFused);
        const std::uint64_t parameters = program::parameter_count(spec.model);
        CHECK(again.gradient == parameters);
        // Vectors are all that has a place of its own; matrices take what activations leave.
        std::uint64_t vectors = 0;
        for (const program::TensorInfo& info : program.parameters) {
            if (info.is_vector) vectors += info.size();
        }
        CHECK(once.gradient == vectors);
        CHECK(once.block + once.gradient < again.block + parameters / 2);
        CHECK(plan(kBatchOfFour, Grouping::kOperators).gradient == vectors);
        // Here no tensor lies over another.
        CHECK(plan(kBatchOfFour, Grouping::kSingle).gradient == parameters);
    }
}

TEST_CASE("what is rematerialised need not be kept", "[trainer][memory]") {
    program::JobSpec spec = test::small_job();
    spec.model.layers = 12;
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const CpuDevice device(Target::kScalar, 1, nullptr);
    const auto block = [&](Rematerialise rematerialise) {
        // One micro-batch of several: gradients of weights have no place in the block.
        return plan_allocation(program, device, {4, rematerialise, 21}, 2 * kBatchOfFour).block;
    };
    // Of 16 widths a token and layer: without norms and activations 10, of a layer's input alone 1.
    CHECK(block(Rematerialise::kCheap) < block(Rematerialise::kNothing) * 3 / 4);
    CHECK(block(Rematerialise::kLayers) < block(Rematerialise::kNothing) / 4);
}

TEST_CASE("a job's state does not depend on its memory budget", "[trainer][memory]") {
    const program::JobSpec spec = test::small_job();
    const auto train = test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1);
    const auto held_out = test::small_tokens(spec.data.held_out_tokens, spec.model.vocabulary, 2);
    const auto run = [&](std::uint64_t memory) -> base::Outcome<base::Hash256> {
        RunnerOptions options;
        options.memory = memory;
        ASSAY_ASSIGN(auto runner, JobRunner::create(spec, {train}, {held_out}, options));
        ASSAY_ASSIGN(const SlotRoundOutcome round,
                     runner->run_slot_round(runner->initial(), 0, 0, std::nullopt, {}, {}));
        ASSAY_TRY(runner->evaluate_held_out(round.end.parameters, 0, {}));
        return runner->state_root(round.end);
    };
    const auto unlimited = run(0);
    REQUIRE(unlimited.ok());
    std::uint64_t memory = 4U << 20;
    for (; memory > 0; memory -= memory / 8) {
        const auto root = run(memory);
        if (!root.ok()) {
            CHECK(root.error().kind == base::ErrorKind::kPreflight);
            break;
        }
        CHECK(root.value() == unlimited.value());
    }
    CHECK(memory < (1U << 20));
    CHECK(memory > 0);
}

TEST_CASE("a job is taken with the least memory that its round needs, and with no byte less",
          "[trainer][memory]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        CAPTURE(spec.name);
        const auto train = test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1);
        const CpuDevice device(Target::kScalar, 1, nullptr);
        const RoundMemory needed = round_memory(spec, device).value();
        const auto create = [&](std::uint64_t memory) {
            RunnerOptions options;
            options.memory = memory;
            return JobRunner::create(spec, {train}, {}, options,
                                     std::make_unique<CpuDevice>(Target::kScalar, 1, nullptr));
        };
        CHECK(create(needed.least).ok());
        const auto refused = create(needed.least - 1);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kPreflight);
        // With the most its steps are what they are without a limit.
        REQUIRE(needed.most >= needed.least);
        CHECK(create(needed.most).value()->step_bytes() == create(0).value()->step_bytes());
    }
}

TEST_CASE("beside its steps a round holds its start and its update, and moments that are carried",
          "[trainer][memory]") {
    program::JobSpec spec = test::small_job();
    const std::uint64_t count = program::parameter_count(spec.model);
    const std::uint64_t update = 8 * count + program::strategy_of(spec).most_update_bytes(count);
    REQUIRE_FALSE(program::carries_state(spec));
    CHECK(beside_step_bytes(spec) == 4 * count + update - 8 * count);  // in the place of the moments
    spec.inner_state = program::InnerState::kCarried;
    REQUIRE(program::carries_state(spec));
    CHECK(beside_step_bytes(spec) == 4 * count + update + 8 * count);
}

TEST_CASE("a model of very many layers is planned, grouped and operator by operator", "[trainer][memory]") {
    program::JobSpec spec = test::small_jobs().front();
    spec.model.layers = 400;
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const CpuDevice device(Target::kScalar, 1, nullptr);
    for (const Grouping grouping : {Grouping::kFused, Grouping::kOperators}) {
        std::uint64_t kept_all = 0;
        for (const Rematerialise rematerialise : {Rematerialise::kNothing, Rematerialise::kLayers}) {
            const PlanChoice choice{.rematerialise = rematerialise, .grouping = grouping};
            const AllocationPlan plan = plan_allocation(program, device, choice, 1);
            CHECK(plan.groups.size() > spec.model.layers);
            if (rematerialise == Rematerialise::kNothing) kept_all = plan.block;
            CHECK((rematerialise == Rematerialise::kNothing || plan.block < kept_all));
        }
    }
}

}  // namespace assay::trainer
