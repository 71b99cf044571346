// SPDX-License-Identifier: Apache-2.0
// Groups of operators on an emulated card: however many heads and rows of logits there are at a time, steps
// have the law's bits, and a step that diverges names the law's operator.
#include <algorithm>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "tests/trainer/planted_numbers.hpp"
#include "trainer/cuda/emulated_card.hpp"

namespace assay::trainer::cuda {
namespace {
constexpr std::uint32_t kThree = 3;

// A device that has `squares` of a model's heads at a time.
std::unique_ptr<CudaHostDevice> device_with(const program::ModelConfig& model, std::uint64_t squares,
                                            ThreadOrder order = ThreadOrder::kAscending, bool fused = true,
                                            unsigned processors = 0) {
    CudaOptions sizes;
    sizes.ways.processors = processors;
    sizes.squares = squares * model.context * model.context * sizeof(float);
    sizes.ways.fused_attention = fused;
    return std::make_unique<CudaHostDevice>(2, EmulatedOptions{.stream = {.order = order}}, sizes);
}

std::vector<std::uint32_t> every_operator(const program::Program& program) {
    std::vector<std::uint32_t> every(program.operators.size());
    for (std::uint32_t i = 0; i < every.size(); ++i) every[i] = i;
    return every;
}

struct OneStep {
    explicit OneStep(const program::JobSpec& job)
        : spec(job),
          program(program::build_step_program(spec.model, spec.train, spec.profile)),
          coefficients(program::Schedule(spec.train).at(0, 0)),
          tokens(trainer::test::batch_of(spec, kThree, 200)) {}
    // Runs it on the state.
    StepResult on(CudaDevice& device, const PlanChoice& choice, program::SlotArrays& state) const {
        Executor executor(program, device, plan_allocation(program, device, choice, kThree));
        AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
        const StepResult result = executor.step(coefficients, tokens, adopted.at());
        adopted.sync();
        REQUIRE(device.check().ok());
        return result;
    }
    program::JobSpec spec;
    program::Program program;
    arithmetic::AdamWCoefficients coefficients;
    std::vector<std::uint32_t> tokens;
};
}  // namespace

TEST_CASE("groups have the law's bits with any number of heads and rows at a time", "[trainer][cuda]") {
    for (const program::JobSpec& spec : trainer::test::small_jobs()) {
        const OneStep step(spec);
        const program::SlotArrays start = trainer::test::initial_state(spec);
        program::SlotArrays expected = start;
        const auto law = program::reference_step(step.program, step.coefficients, step.tokens, expected);
        // A group of heads, a sequence's and some, all; rows that end within a sequence and in the last one;
        // attention by squares also where it can be fused; products that are cut along k, on two processors.
        for (const auto& [squares, head_rows, order, fused, processors] :
             {std::tuple(0U, 5U, ThreadOrder::kDescending, true, 2U),
              std::tuple(5U, 32U, ThreadOrder::kSeeded, false, 0U),
              std::tuple(1'000'000U, 0U, ThreadOrder::kAscending, true, 0U),
              std::tuple(1000U, 0U, ThreadOrder::kAscending, false, 2U)}) {
            // In f32 nothing is fused.
            if (squares == 1000 && spec.profile == program::Profile::kF32) continue;
            for (const Rematerialise rematerialise : trainer::test::kAllRematerialise) {
                INFO(spec.name << ", " << squares << " squares, " << head_rows << " rows, "
                               << to_text(rematerialise) << (fused ? ", fused" : ""));
                const auto device = device_with(spec.model, squares, order, fused, processors);
                program::SlotArrays state = start;
                const StepResult result = step.on(
                    *device, {.micro_batch = 3, .rematerialise = rematerialise, .head_rows = head_rows},
                    state);
                REQUIRE_FALSE(result.diverged);
                REQUIRE(result.fingerprint == law.fingerprint);
                REQUIRE(trainer::test::same(state, expected));
            }
        }
    }
}

TEST_CASE("an evaluation by groups has a processor's loss, and its logits of any row", "[trainer][cuda]") {
    for (const program::JobSpec& spec : trainer::test::small_jobs()) {
        const auto program = program::build_evaluate_program(spec.model, spec.profile);
        const std::vector<float> parameters = trainer::test::initial_state(spec).parameters;
        const auto tokens = trainer::test::batch_of(spec, kThree, 201);
        const std::uint64_t stride = spec.model.context + 1;
        const auto sequences = [&](std::uint64_t i, std::span<std::uint32_t> to) {
            std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(i * stride), stride, to.begin());
        };
        const auto card = device_with(spec.model, 3);
        trainer::test::ExecutorMachine processor(program, Target::kScalar, 1, PlanChoice{2}, kThree);
        const PlanChoice choice{.micro_batch = 2, .head_rows = 5};
        Executor executor(program, *card, plan_allocation(program, *card, choice, kThree));
        const float* const there = card->adopt_read_only(parameters);
        const auto loss = executor.evaluate(there, kThree, sequences, {});
        REQUIRE(loss);
        CHECK(loss == processor.executor.evaluate(parameters.data(), kThree, sequences, {}));
        for (const std::uint64_t row : {std::uint64_t{0}, std::uint64_t{7}, stride - 2}) {
            const std::span<const std::uint32_t> inputs(tokens.data(), spec.model.context);
            const auto found = executor.logits(there, inputs, row).value();
            const auto wanted = processor.executor.logits(parameters.data(), inputs, row).value();
            CHECK(std::equal(found.begin(), found.end(), wanted.begin(), wanted.end()));
        }
        card->drop(there);
    }
}

TEST_CASE("squares and logits lie in scratch, as many as a device has at a time", "[trainer][cuda]") {
    const program::JobSpec spec = trainer::test::small_jobs()[1];  // four heads, two of them share keys
    const program::ModelConfig& model = spec.model;
    const auto program = program::build_step_program(model, spec.train, spec.profile);
    const std::vector<std::uint32_t> every = every_operator(program);
    const std::uint64_t square = model.context * model.context;
    const auto most = [&](std::uint64_t squares, GroupKind kind) {
        const auto device = device_with(model, squares);
        std::uint64_t found = 0;
        for (const Group& one : group(program, every)) {
            if (one.kind != kind) continue;
            found = std::max(found, device->scratch(program, one, {.sequences = 3, .head_rows = 10}));
        }
        return found;
    };
    CHECK(most(0, GroupKind::kAttention) == 2 * square);
    CHECK(most(3, GroupKind::kAttention) == 2 * square);
    CHECK(most(7, GroupKind::kAttention) == 4 * square);
    CHECK(most(9, GroupKind::kAttention) == 8 * square);
    CHECK(most(100, GroupKind::kAttention) == 12 * square);
    CHECK(most(7, GroupKind::kAttentionGradient) == 8 * square);
    CHECK(most(7, GroupKind::kHead) == 10 * model.vocabulary + 3 * model.context);
    // Where attention is fused there is no square: two numbers of each row.
    const program::JobSpec exact = trainer::test::small_jobs()[3];
    const auto exact_program = program::build_step_program(exact.model, exact.train, exact.profile);
    const auto card = device_with(exact.model, 1'000'000);
    for (const Group& one : group(exact_program, every_operator(exact_program))) {
        const std::uint64_t found = card->scratch(exact_program, one, {.sequences = 3, .head_rows = 10});
        if (one.kind == GroupKind::kAttention) CHECK(found == 0);
        if (one.kind == GroupKind::kAttentionGradient) CHECK(found == 2 * 12 * model.context);
    }
    CHECK(most(7, GroupKind::kLinear) == 0);
    // No plan keeps a square of all heads.
    const auto device = device_with(model, 0);
    const AllocationPlan plan = plan_allocation(program, *device, {.micro_batch = 3}, kThree);
    for (const PlannedGroup& planned : plan.groups) {
        for (const PlannedGroup::Place& place : planned.places) {
            CHECK_FALSE((program.tensors[place.tensor].cols == model.context &&
                         program.tensors[place.tensor].rows.of(1) == model.heads * model.context));
        }
    }
}

TEST_CASE("a step of groups that diverges names the law's operator", "[trainer][cuda]") {
    std::set<program::OperatorKind> named;
    std::size_t at = 0;
    for (const program::JobSpec& job : trainer::test::small_jobs()) {
        const OneStep step(trainer::test::smaller(job));
        const auto all = device_with(step.spec.model, 1'000'000), few = device_with(step.spec.model, 0);
        const auto by_squares = device_with(step.spec.model, 1000, ThreadOrder::kAscending, false);
        for (const trainer::test::PlantedNumber& fault : trainer::test::faults_of(step.program)) {
            INFO(step.spec.name << ", element " << fault.element << " of array " << fault.array << " is "
                                << fault.value);
            program::SlotArrays before = trainer::test::initial_state(step.spec);
            trainer::test::array_of(before, fault.array)[fault.element] = fault.value;
            program::SlotArrays expected = before;
            const auto law = program::reference_step(step.program, step.coefficients, step.tokens, expected);
            if (law.diverged) named.insert(step.program.operators[*law.diverged].kind);
            // Each plan for every third number: there are many, and the emulation is slow.
            const std::size_t turn = at++ % 3;
            program::SlotArrays state = before;
            const StepResult result =
                step.on(turn == 0   ? *few
                        : turn == 1 ? *all
                                    : *by_squares,
                        turn == 0 ? PlanChoice{2, Rematerialise::kLayers, 9} : PlanChoice{1}, state);
            REQUIRE(result.diverged == law.diverged);
            REQUIRE(trainer::test::same(state, law.diverged ? before : expected));
        }
    }
    CHECK(named.size() >= 10);
}

}  // namespace assay::trainer::cuda
