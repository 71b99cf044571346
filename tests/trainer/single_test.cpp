// SPDX-License-Identifier: Apache-2.0
// Single operators: what a dispute asks for. A step stops after any of them, and what it wrote lies in memory
// with the bits of the reference machine.
#include "trainer/step/single.hpp"

#include <limits>

#include "contracts/program/reference_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/cuda/emulated_card.hpp"
#include "trainer/reference/reference_device.hpp"

namespace assay::trainer {
namespace {

constexpr std::uint32_t kSingleBatch = 3;

PlanChoice single_choice(std::uint32_t micro_batch) {
    return {.micro_batch = micro_batch, .grouping = Grouping::kSingle};
}

// A step of a job as the law has it: the tensors that each operator leaves.
struct Law {
    explicit Law(const program::JobSpec& spec)
        : program(program::build_step_program(spec.model, spec.train, spec.profile)),
          coefficients(program::Schedule(spec.train).at(0, 2)),
          tokens(test::batch_of(spec, kSingleBatch, 31)),
          start(test::initial_state(spec)) {
        // Moments that are not zero.
        const auto before =
            program::reference_step(program, coefficients, test::batch_of(spec, kSingleBatch, 30), start);
        REQUIRE_FALSE(before.diverged);
        program::ReferenceMachine machine(program, tokens);
        load(machine, program::TensorRole::kParameter, start.parameters);
        load(machine, program::TensorRole::kFirstMoment, start.first_moment);
        load(machine, program::TensorRole::kSecondMoment, start.second_moment);
        for (const program::Operator& one : program.operators) {
            machine.execute(one, coefficients);
            std::vector<std::vector<float>> written;
            for (const program::TensorId id : one.outputs) {
                const auto values = machine.values(id);
                written.emplace_back(values.begin(), values.end());
            }
            outputs.push_back(std::move(written));
        }
        for (program::TensorId id = 0; id < program.tensors.size(); ++id) {
            const auto values = machine.values(id);
            last.emplace_back(values.begin(), values.end());
        }
    }

    void load(program::ReferenceMachine& machine, program::TensorRole role,
              const std::vector<float>& flat) const {
        std::size_t next = 0;
        for (program::TensorId id = 0; id < program.tensors.size(); ++id) {
            if (program.tensors[id].role != role) continue;
            const program::TensorInfo& info = program.parameters[next++];
            const auto part = std::span(flat).subspan(info.offset, info.size());
            std::copy(part.begin(), part.end(), machine.values(id).begin());
        }
    }

    program::Program program;
    arithmetic::AdamWCoefficients coefficients;
    std::vector<std::uint32_t> tokens;
    program::SlotArrays start;
    std::vector<std::vector<std::vector<float>>> outputs;  // by operator and output, once it has run
    std::vector<std::vector<float>> last;                  // by tensor, after the step
};

// What `executor` left of a tensor on sequences [first, first + count) is that part of `whole`.
void require_same(const Executor& executor, program::TensorId id, const std::vector<float>& whole,
                  std::uint64_t first, std::uint64_t count) {
    const program::Tensor& tensor = executor.program().tensors[id];
    std::vector<float> found(tensor.rows.of(count) * tensor.cols);
    executor.read(id, found);
    const auto begin =
        whole.begin() + static_cast<std::ptrdiff_t>(tensor.rows.per_sequence * first * tensor.cols);
    REQUIRE(test::same(found, {begin, begin + static_cast<std::ptrdiff_t>(found.size())}));
}

// Stops after operator `index`, on the way of each micro-batch.
void require_operator(const Law& law, Device& device, Executor& executor, std::uint32_t index) {
    const program::Operator& one = law.program.operators[index];
    INFO("operator " << index << ", " << one.name);
    program::SlotArrays state = law.start;
    AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
    std::uint64_t seen = 0;
    const auto diverged = executor.run_until(
        index, law.coefficients, law.tokens, adopted.at(), [&](std::uint64_t first, std::uint64_t count) {
            REQUIRE(first == seen);
            seen += count;
            for (std::size_t i = 0; i < one.outputs.size(); ++i) {
                const program::TensorId id = one.outputs[i];
                // A sum over sequences is whole after the last of them.
                if (law.program.tensors[id].rows.per_sequence == 0 && seen < kSingleBatch) continue;
                require_same(executor, id, law.outputs[index][i], first, count);
            }
        });
    REQUIRE_FALSE(diverged);
    REQUIRE(seen == kSingleBatch);
}

}  // namespace

TEST_CASE("a step stops after any operator and its outputs have the bits of the reference",
          "[trainer][single]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        const Law law(spec);
        const std::pair<Target, std::uint32_t> machines[] = {{test::all_targets().front(), 1},
                                                             {Target::kScalar, 2}};
        for (const auto& [target, micro_batch] : machines) {
            INFO(spec.name << ", " << to_text(target) << ", micro-batch " << micro_batch);
            test::ExecutorMachine machine(law.program, target, 2, single_choice(micro_batch), kSingleBatch);
            for (std::uint32_t i = 0; i < law.program.operators.size(); ++i) {
                require_operator(law, machine.device, machine.executor, i);
            }
        }
    }
}

TEST_CASE("after a step of single operators every tensor lies in memory as the reference leaves it",
          "[trainer][single]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        const Law law(spec);
        std::vector<std::unique_ptr<Device>> devices;
        for (const Target target : test::all_targets()) {
            devices.push_back(std::make_unique<CpuDevice>(target, 2, nullptr));
        }
        devices.push_back(std::make_unique<ReferenceDevice>());
        devices.push_back(std::make_unique<cuda::CudaHostDevice>(2));
        for (const auto& device : devices) {
            INFO(spec.name << ", " << device->name() << ", device " << &device - devices.data());
            Executor executor(
                law.program, *device,
                plan_allocation(law.program, *device, single_choice(kSingleBatch), kSingleBatch));
            const auto end = static_cast<std::uint32_t>(law.program.operators.size() - 1);
            program::SlotArrays state = law.start;
            AdoptedState adopted(*device, state.parameters, state.first_moment, state.second_moment);
            REQUIRE_FALSE(executor.run_until(end, law.coefficients, law.tokens, adopted.at(),
                                             [](std::uint64_t, std::uint64_t) {}));
            for (program::TensorId id = 0; id < law.program.tensors.size(); ++id) {
                if (law.program.tensors[id].role == program::TensorRole::kTokens) continue;
                INFO(law.program.tensors[id].name);
                require_same(executor, id, law.last[id], 0, kSingleBatch);
            }
        }
    }
}

TEST_CASE("steps of single operators have the bits of the reference", "[trainer][single]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        const Law law(spec);
        program::SlotArrays expected = law.start;
        const auto outcome = program::reference_step(law.program, law.coefficients, law.tokens, expected);
        for (const bool keep_weights : {false, true}) {
            INFO(spec.name << (keep_weights ? ", packed weights kept" : ""));
            PlanChoice choice = single_choice(1);
            choice.keep_weights = keep_weights;
            test::ExecutorMachine machine(law.program, test::all_targets().front(), 2, choice, kSingleBatch);
            program::SlotArrays state = law.start;
            const StepResult result = machine.step(law.coefficients, law.tokens, state);
            REQUIRE(result.fingerprint == outcome.fingerprint);
            REQUIRE(test::same(state, expected));
            std::vector<float> gradient(state.parameters.size());
            machine.executor.gradient(gradient);
            REQUIRE(test::same(gradient, outcome.gradient));
        }
    }
}

TEST_CASE("a step that stops says which operator diverged, and only once it has run", "[trainer][single]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        const Law law(spec);
        std::vector<std::unique_ptr<Device>> devices;
        devices.push_back(std::make_unique<CpuDevice>(test::all_targets().front(), 2, nullptr));
        devices.push_back(std::make_unique<ReferenceDevice>());
        devices.push_back(std::make_unique<cuda::CudaHostDevice>(2));
        for (const auto& device : devices) {
            INFO(spec.name << ", " << device->name());
            Executor executor(law.program, *device,
                              plan_allocation(law.program, *device, single_choice(2), kSingleBatch));
            const auto run_until = [&](std::uint32_t index, program::SlotArrays state) {
                const AdoptedState adopted(*device, state.parameters, state.first_moment,
                                           state.second_moment);
                return executor.run_until(index, law.coefficients, law.tokens, adopted.at(),
                                          [](std::uint64_t, std::uint64_t) {});
            };
            for (const program::TensorInfo& info : law.program.parameters) {
                program::SlotArrays broken = law.start;
                broken.parameters[info.offset] = 3e38F;
                program::SlotArrays unused = broken;
                const auto law_says =
                    program::reference_step(law.program, law.coefficients, law.tokens, unused).diverged;
                if (!law_says) continue;
                INFO(info.name << ", operator " << *law_says);
                REQUIRE(run_until(*law_says, broken) == law_says);
                if (*law_says > 0) REQUIRE_FALSE(run_until(*law_says - 1, broken));
            }
        }
    }
}

}  // namespace assay::trainer
