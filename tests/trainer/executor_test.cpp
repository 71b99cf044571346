// SPDX-License-Identifier: Apache-2.0
// Whole steps against the reference interpreter, bit for bit.
#include "trainer/executor.hpp"

#include <memory>

#include "contracts/program/initial.hpp"
#include "contracts/program/reference_step.hpp"
#include "contracts/program/schedule.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/small_job.hpp"

namespace assay::trainer {
namespace {

struct Machine {
    Machine(const program::Program& program, Target target, int threads, std::uint32_t micro_batch)
        : pool(threads),
          arena(make_heap_arena()),
          executor(program,
                   Executor::Machine{kernels(target), products(program.profile, target), pool, *arena},
                   micro_batch) {}
    ThreadPool pool;
    std::unique_ptr<Arena> arena;
    Executor executor;
};

program::SlotArrays initial_state(const program::JobSpec& spec) {
    program::SlotArrays state;
    state.parameters = program::initial_parameters(spec.model, spec.seed);
    state.first_moment.assign(state.parameters.size(), 0.0F);
    state.second_moment = state.first_moment;
    return state;
}

std::vector<std::uint32_t> batch_of(const program::JobSpec& spec, std::uint32_t sequences, unsigned seed) {
    const auto tokens = test::small_tokens(sequences * (spec.model.context + 1), spec.model.vocabulary, seed);
    return {tokens.begin(), tokens.end()};
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
}  // namespace

TEST_CASE("steps have the bits of the reference on every target, thread count and micro-batch",
          "[trainer][executor]") {
    const program::JobSpec spec = test::small_job();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const program::Schedule schedule(spec.train);
    for (const Target target : test::all_targets()) {
        for (const int threads : {1, 2}) {
            for (const std::uint32_t micro_batch : {1U, 2U, 3U, 4U, 5U}) {
                INFO(to_text(target) << ", threads " << threads << ", micro-batch " << micro_batch);
                Machine machine(program, target, threads, micro_batch);
                program::SlotArrays expected = initial_state(spec);
                program::SlotArrays state = expected;
                for (std::uint32_t step = 0; step < 3; ++step) {
                    const auto tokens = batch_of(spec, 5, 100 + step);
                    const auto coefficients = schedule.at(0, step);
                    const auto reference = program::reference_step(program, coefficients, tokens, expected);
                    const auto result = machine.executor.step(
                        coefficients, tokens, {state.parameters, state.first_moment, state.second_moment});
                    REQUIRE_FALSE(result.diverged);
                    REQUIRE(result.fingerprint == reference.fingerprint);
                    const auto gradient = machine.executor.gradient();
                    REQUIRE(same({gradient.begin(), gradient.end()}, reference.gradient));
                    REQUIRE(same(state.parameters, expected.parameters));
                    REQUIRE(same(state.first_moment, expected.first_moment));
                    REQUIRE(same(state.second_moment, expected.second_moment));
                }
            }
        }
    }
}

TEST_CASE("an evaluation has the bits of the reference", "[trainer][executor]") {
    const program::JobSpec spec = test::small_job();
    const auto program = program::build_evaluate_program(spec.model, spec.profile);
    const auto state = initial_state(spec);
    const auto tokens = batch_of(spec, 5, 9);
    const std::uint64_t length = spec.model.context + 1;
    const auto expected = program::reference_loss(program, tokens, state.parameters);
    for (const Target target : test::all_targets()) {
        Machine machine(program, target, 2, 2);
        const auto loss = machine.executor.evaluate(
            state.parameters, 5,
            [&](std::uint64_t i, std::span<std::uint32_t> out) {
                std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(i * length), length, out.begin());
            },
            {});
        REQUIRE(loss);
        REQUIRE(std::bit_cast<std::uint32_t>(*loss) == std::bit_cast<std::uint32_t>(*expected));
    }
}

TEST_CASE("a diverging step names the reference's operator and leaves the state alone",
          "[trainer][executor]") {
    const program::JobSpec spec = test::small_job();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const program::Schedule schedule(spec.train);
    // Faults that strike in different places: a weight, a row of the embedding that only one sequence reads,
    // a gain, and a second moment that only AdamW sees.
    struct Fault {
        std::string_view tensor;
        std::uint64_t element;
        float value;
        bool in_moment;
    };
    const std::vector<Fault> faults = {{"h.1.mlp.c_fc.weight", 3, 3e38F, false},
                                       {"wte.weight", 0, 2e38F, false},
                                       {"ln_f.weight", 2, 3e38F, false},
                                       {"h.0.attn.c_attn.weight", 5, 3e38F, false},
                                       {"h.0.ln_2.bias", 1, -1.0F, true}};
    for (const Target target : test::all_targets()) {
        for (const std::uint32_t micro_batch : {1U, 2U, 5U}) {
            for (const Fault& fault : faults) {
                INFO(to_text(target) << ", micro-batch " << micro_batch << ", " << fault.tensor);
                Machine machine(program, target, 2, micro_batch);
                program::SlotArrays state = initial_state(spec);
                const auto& info =
                    program.parameters[program::tensor_index(program.parameters, fault.tensor)];
                (fault.in_moment ? state.second_moment : state.parameters)[info.offset + fault.element] =
                    fault.in_moment ? -1.0F : fault.value;
                const program::SlotArrays before = state;
                program::SlotArrays expected = state;
                const auto tokens = batch_of(spec, 5, 200);
                const auto reference = program::reference_step(program, schedule.at(0, 0), tokens, expected);
                REQUIRE(reference.diverged);
                const auto result = machine.executor.step(
                    schedule.at(0, 0), tokens, {state.parameters, state.first_moment, state.second_moment});
                REQUIRE(result.diverged == reference.diverged);
                REQUIRE(same(state.parameters, before.parameters));
                REQUIRE(same(state.first_moment, before.first_moment));
                REQUIRE(same(state.second_moment, before.second_moment));
            }
        }
    }
}

}  // namespace assay::trainer
