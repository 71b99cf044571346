// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/bench.hpp"

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "contracts/arithmetic/philox.hpp"
#include "contracts/program/initial.hpp"
#include "trainer/step/device_failure.hpp"
#include "trainer/step/executor.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {

namespace {
struct StepBench {
    StepBench(const program::ModelConfig& model, const program::TrainConfig& train, program::Profile profile,
              std::unique_ptr<Device> opened, AllocationPlan plan)
        : device(std::move(opened)),
          offloads(plan.choice.offload_moments),
          executor(program::build_step_program(model, train, profile), *device, std::move(plan)),
          parameters(program::initial_parameters(model, 1)),
          first(parameters.size(), 0.0F),
          second(parameters.size(), 0.0F),
          state(*device, parameters, first, second, offloads ? Adoption::kStreamed : Adoption::kWhole) {
        const std::uint64_t count = std::uint64_t{train.batch} * (model.context + 1);
        for (std::uint32_t i = 0; i < count; ++i) {
            tokens.push_back(arithmetic::philox({i, 0, 0, 0}, {3, 4})[0] % model.vocabulary);
        }
    }
    void operator()() {
        arithmetic::AdamWCoefficients c{1e-3F, 1e-4F, 0.9F, 0.1F, 0.95F, 0.05F, 1.0F, 1.0F, 1e-8F};
        executor.step(c, tokens, state.at());
        if (const auto checked = device->check(); !checked.ok()) throw DeviceFailure(checked.error());
    }
    std::unique_ptr<Device> device;
    bool offloads;
    Executor executor;
    std::vector<float> parameters, first, second;
    AdoptedState state;
    std::vector<std::uint32_t> tokens;
};

// The plan that a job would get there: the quickest within a card's budget.
base::Outcome<AllocationPlan> plan_on(const Device& device, const program::Program& program,
                                      std::uint32_t batch) {
    PlanLimits limits{batch, 0, device.capacity().value_or(0)};
    if (device.capacity()) limits.device = device.name();
    return choose_plan(program, device, limits);
}

base::Outcome<void> check_model(const program::ModelConfig& model) {
    if (model.heads == 0 || model.width % model.heads != 0 || model.layers == 0 || model.context == 0 ||
        model.vocabulary < 2) {
        return base::fail(base::ErrorKind::kUsage,
                          "bench: a size of the model is 0 or heads do not divide width",
                          "give a model that a job could have");
    }
    return {};
}

program::TrainConfig train_of(std::uint32_t batch) {
    program::TrainConfig train;
    train.batch = batch;
    train.inner_steps = 1;
    return train;
}

base::Outcome<std::shared_ptr<StepBench>> open_step(const program::ModelConfig& model, std::uint32_t batch,
                                                    program::Profile profile, const DeviceOptions& options) {
    ASSAY_TRY(check_model(model));
    if (batch == 0) return base::fail(base::ErrorKind::kUsage, "bench: a batch of no sequences", "give one");
    ASSAY_ASSIGN(auto device, open_device(options));
    const program::TrainConfig train = train_of(batch);
    ASSAY_ASSIGN(AllocationPlan plan,
                 plan_on(*device, program::build_step_program(model, train, profile), batch));
    try {
        return std::make_shared<StepBench>(model, train, profile, std::move(device), std::move(plan));
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "a training step");
    }
}
}  // namespace

base::Outcome<std::function<void()>> make_step_bench(const program::ModelConfig& model, std::uint32_t batch,
                                                     program::Profile profile, const DeviceOptions& options) {
    ASSAY_ASSIGN(const auto bench, open_step(model, batch, profile, options));
    return std::function<void()>([bench] { (*bench)(); });
}

base::Outcome<std::vector<WorkTime>> step_bench_parts(const program::ModelConfig& model, std::uint32_t batch,
                                                      program::Profile profile,
                                                      const DeviceOptions& options) {
    constexpr int kWarmUps = 2;
    ASSAY_ASSIGN(const auto bench, open_step(model, batch, profile, options));
    try {
        for (int i = 0; i < kWarmUps; ++i) (*bench)();
        return bench->device->timed([&bench] { (*bench)(); });
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "a training step");
    }
}

base::Outcome<std::uint64_t> step_bench_bytes(const program::ModelConfig& model, std::uint32_t batch,
                                              program::Profile profile, const DeviceOptions& options) {
    ASSAY_TRY(check_model(model));
    ASSAY_ASSIGN(const auto device, open_device(options));
    const program::Program program = program::build_step_program(model, train_of(batch), profile);
    ASSAY_ASSIGN(const AllocationPlan plan, plan_on(*device, program, batch));
    return plan.bytes() + state_bytes(program, plan.choice);
}

base::Outcome<std::function<void()>> make_state_bench(const program::ModelConfig& model, StateWork work,
                                                      const DeviceOptions& options) {
    ASSAY_TRY(check_model(model));
    ASSAY_ASSIGN(auto device, open_device(options));
    try {
        return make_state_bench(std::move(device), model, work);
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "the state of this model");
    }
}

}  // namespace assay::trainer
