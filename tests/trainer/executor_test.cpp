// SPDX-License-Identifier: Apache-2.0
// Whole steps against the reference interpreter, bit for bit.
#include "trainer/step/executor.hpp"

#include <algorithm>
#include <bit>

#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"

namespace assay::trainer {
namespace {

using test::ExecutorMachine;

constexpr std::uint32_t kBatchOfFive = 5;

// The small jobs, and one whose sequences are longer than a block of the exact attention products.
std::vector<program::JobSpec> jobs() {
    std::vector<program::JobSpec> all = test::small_jobs();
    program::JobSpec longer = all.back();
    longer.name = "longer, i16";
    longer.model.layers = 1;
    longer.model.context = arithmetic::kAttentionBlock + 6;
    all.push_back(longer);
    return all;
}

// What the law says of three steps.
struct Expected {
    std::vector<program::StepOutcome> outcomes;
    std::vector<program::SlotArrays> states;  // after each step
};

Expected expected_of(const program::JobSpec& spec, const program::Program& program) {
    const program::Schedule schedule(spec.train);
    Expected expected;
    program::SlotArrays state = test::initial_state(spec);
    for (std::uint32_t step = 0; step < 3; ++step) {
        const auto tokens = test::batch_of(spec, kBatchOfFive, 100 + step);
        expected.outcomes.push_back(program::reference_step(program, schedule.at(0, step), tokens, state));
        expected.states.push_back(state);
    }
    return expected;
}

void require_steps(const program::JobSpec& spec, const Expected& expected, ExecutorMachine& machine) {
    const program::Schedule schedule(spec.train);
    program::SlotArrays state = test::initial_state(spec);
    AdoptedState adopted(machine.device, state.parameters, state.first_moment, state.second_moment);
    std::vector<float> gradient(state.parameters.size());
    for (std::uint32_t step = 0; step < 3; ++step) {
        const auto tokens = test::batch_of(spec, kBatchOfFive, 100 + step);
        const auto result = machine.executor.step(schedule.at(0, step), tokens, adopted.at());
        adopted.sync();
        REQUIRE_FALSE(result.diverged);
        REQUIRE(result.fingerprint == expected.outcomes[step].fingerprint);
        machine.executor.gradient(gradient);
        REQUIRE(test::same(gradient, expected.outcomes[step].gradient));
        REQUIRE(test::same(state, expected.states[step]));
    }
}
}  // namespace

TEST_CASE("steps have the bits of the reference on every target, thread count and micro-batch",
          "[trainer][executor]") {
    for (const program::JobSpec& spec : jobs()) {
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const Expected expected = expected_of(spec, program);
        for (const Target target : test::all_targets()) {
            for (const int threads : {1, 2}) {
                for (const std::uint32_t micro_batch : {1U, 2U, 5U}) {
                    INFO(spec.name << ", " << to_text(target) << ", threads " << threads << ", micro-batch "
                                   << micro_batch);
                    ExecutorMachine machine(program, target, threads, {micro_batch}, kBatchOfFive);
                    require_steps(spec, expected, machine);
                }
                // Each step changes the weights, so packed ones that outlive a step would show in the next.
                for (const std::uint32_t micro_batch : {1U, 2U}) {
                    if (spec.profile != program::Profile::kI16) continue;
                    INFO(spec.name << ", " << to_text(target) << ", threads " << threads << ", micro-batch "
                                   << micro_batch << ", packed weights kept");
                    ExecutorMachine machine(program, target, threads,
                                            {micro_batch, Rematerialise::kNothing, 0, true}, kBatchOfFive);
                    require_steps(spec, expected, machine);
                }
            }
        }
    }
}

TEST_CASE("a vocabulary longer than a block of an exact product has the bits of the reference",
          "[trainer][executor]") {
    program::JobSpec spec = test::small_jobs().back();
    REQUIRE(spec.profile == program::Profile::kI16);
    spec.name = "long vocabulary";
    spec.model.layers = 1;
    spec.model.width = 8;
    spec.model.context = 3;
    spec.model.hidden = 8;
    spec.model.vocabulary = 16'500;  // the head's input gradient sums over two blocks, the second short
    REQUIRE(spec.model.vocabulary > arithmetic::kMaxProductBlock);
    for (const program::Head head : {program::Head::kTied, program::Head::kUntied}) {
        spec.model.head = head;
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const Expected expected = expected_of(spec, program);
        for (const Target target : test::all_targets()) {
            for (const int threads : {1, 2}) {
                for (const bool keep_weights : {false, true}) {
                    INFO(to_text(target)
                         << ", threads " << threads << (keep_weights ? ", packed weights kept" : ""));
                    ExecutorMachine machine(program, target, threads,
                                            {2, Rematerialise::kNothing, 0, keep_weights}, kBatchOfFive);
                    require_steps(spec, expected, machine);
                }
            }
        }
    }
}

TEST_CASE("steps have the bits of the reference whatever is rematerialised and however the logits are cut",
          "[trainer][executor]") {
    const std::vector<Target> targets = test::all_targets();
    std::size_t job = 0;
    for (const program::JobSpec& spec : jobs()) {
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const Expected expected = expected_of(spec, program);
        std::size_t turn = job++;  // another for each job, lest a target always meet the same choices
        for (const Rematerialise rematerialise : test::kAllRematerialise) {
            for (const std::uint32_t micro_batch : {1U, 3U, kBatchOfFive}) {
                for (const std::uint64_t head_rows : {1U, 10U, 42U}) {
                    const Target target = targets[turn % targets.size()];
                    const int threads = turn / targets.size() % 2 == 0 ? 1 : 2;
                    const bool keep_weights = turn / (2 * targets.size()) % 2 == 0;
                    ++turn;
                    INFO(spec.name << ", again " << to_text(rematerialise) << ", micro-batch " << micro_batch
                                   << ", logits " << head_rows << ", " << to_text(target) << ", threads "
                                   << threads << (keep_weights ? ", packed weights kept" : ""));
                    ExecutorMachine machine(program, target, threads,
                                            {micro_batch, rematerialise, head_rows, keep_weights},
                                            kBatchOfFive);
                    require_steps(spec, expected, machine);
                }
            }
        }
    }
}

TEST_CASE("an evaluation has the bits of the reference", "[trainer][executor]") {
    for (const program::JobSpec& spec : jobs()) {
        INFO(spec.name);
        const auto program = program::build_evaluate_program(spec.model, spec.profile);
        const auto tokens = test::batch_of(spec, 5, 9);
        const std::uint64_t length = spec.model.context + 1;
        const std::vector<float> first = test::initial_state(spec).parameters;
        std::vector<float> second = first;
        for (float& weight : second) weight *= 1.25F;
        const std::span inputs(tokens.data(), spec.model.context);
        std::vector<float> logits;  // of the second parameters, after the last place: the same everywhere
        for (const Target target : test::all_targets()) {
            for (const bool keep_weights : {false, true}) {
                ExecutorMachine machine(program, target, 2, {2, Rematerialise::kNothing, 30, keep_weights},
                                        2);
                for (const auto& parameters : {first, second}) {
                    const auto expected = program::reference_loss(program, tokens, parameters);
                    const AdoptedReadOnly adopted(machine.device, parameters);
                    const auto loss = machine.executor.evaluate(
                        adopted.at(), 5,
                        [&](std::uint64_t i, std::span<std::uint32_t> out) {
                            std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(i * length), length,
                                        out.begin());
                        },
                        {});
                    REQUIRE(loss);
                    REQUIRE(std::bit_cast<std::uint32_t>(*loss) == std::bit_cast<std::uint32_t>(*expected));
                }
                const AdoptedReadOnly adopted(machine.device, second);
                const auto found = machine.executor.logits(adopted.at(), inputs, inputs.size() - 1);
                REQUIRE(found);
                if (logits.empty()) logits.assign(found->begin(), found->end());
                REQUIRE(test::same(logits, {found->begin(), found->end()}));
            }
        }
    }
}

}  // namespace assay::trainer
