// SPDX-License-Identifier: Apache-2.0
// Whole steps on the kernels of a GPU, emulated: both profiles and families against the law.
#include "trainer/cuda/emulated_card.hpp"

#include "tests/trainer/cuda/cuda_support.hpp"
#include "tests/trainer/executor_machine.hpp"

namespace assay::trainer::cuda {
namespace {
constexpr std::uint32_t kBatch = 3;

struct TwoSteps {
    explicit TwoSteps(const program::JobSpec& job)
        : spec(job), program(program::build_step_program(spec.model, spec.train, spec.profile)) {}
    [[nodiscard]] arithmetic::AdamWCoefficients coefficients(std::uint32_t step) const {
        return program::Schedule(spec.train).at(0, step);
    }
    [[nodiscard]] std::vector<std::uint32_t> tokens(std::uint32_t step) const {
        return trainer::test::batch_of(spec, kBatch, 40 + step);
    }
    program::JobSpec spec;
    program::Program program;
};
}  // namespace

TEST_CASE("two steps on emulated GPU kernels have the law's bits in every order of threads",
          "[trainer][cuda]") {
    for (const program::JobSpec& spec : trainer::test::small_jobs()) {
        const TwoSteps job(spec);
        program::SlotArrays expected = trainer::test::initial_state(spec);
        std::vector<program::StepOutcome> outcomes;
        for (std::uint32_t step = 0; step < 2; ++step) {
            outcomes.push_back(
                program::reference_step(job.program, job.coefficients(step), job.tokens(step), expected));
            REQUIRE_FALSE(outcomes.back().diverged);
        }
        std::uint32_t micro_batch = 1;
        for (const StreamOptions& options : test::all_orders()) {
            INFO(spec.name << ", order " << static_cast<int>(options.order) << ", micro-batch "
                           << micro_batch);
            CudaHostDevice device(2, options);
            Executor executor(job.program, device,
                              plan_allocation(job.program, device, {.micro_batch = micro_batch}, kBatch));
            program::SlotArrays state = trainer::test::initial_state(spec);
            AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
            for (std::uint32_t step = 0; step < 2; ++step) {
                const StepResult result =
                    executor.step(job.coefficients(step), job.tokens(step), adopted.at());
                REQUIRE_FALSE(result.diverged);
                REQUIRE(result.fingerprint == outcomes[step].fingerprint);
            }
            adopted.sync();
            REQUIRE(trainer::test::same(state, expected));
            std::vector<float> gradient(state.parameters.size());
            executor.gradient(gradient);
            REQUIRE(trainer::test::same(gradient, outcomes.back().gradient));
            REQUIRE(device.check().ok());
            micro_batch = micro_batch % kBatch + 1;
        }
    }
}

}  // namespace assay::trainer::cuda
