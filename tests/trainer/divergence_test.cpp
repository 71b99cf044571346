// SPDX-License-Identifier: Apache-2.0
// A step that diverges names the operator that the reference names, and leaves the state alone.
#include <limits>
#include <map>
#include <set>

#include "contracts/program/names.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"

namespace assay::trainer {
namespace {

constexpr std::uint32_t kBatchOfThree = 3;

struct PlantedNumber {
    std::uint64_t element;
    float value;
    int array;  // 0 parameters, 1 first moment, 2 second moment
};

// Numbers that overflow in different places: at once, in a product, in a square, or in AdamW only.
std::vector<PlantedNumber> faults_of(const program::Program& program) {
    constexpr float kValues[] = {3e38F, -1e30F, 2e19F};
    std::vector<PlantedNumber> faults;
    std::uint64_t place = 0;
    for (const program::TensorInfo& info : program.parameters) {
        for (const float value : kValues) faults.push_back({info.offset + place++ % info.size(), value, 0});
    }
    for (const std::uint64_t element : {0U, 70U, 500U}) {
        faults.push_back({element, 3e38F, 1});
        faults.push_back({element, -1.0F, 2});
        faults.push_back({element, std::numeric_limits<float>::max(), 2});
    }
    return faults;
}

// The smallest models in which every operator still has something to do.
program::JobSpec smaller(program::JobSpec spec) {
    spec.model.width = 4 * spec.model.heads;
    spec.model.context = 7;
    spec.model.vocabulary = 19;
    if (spec.model.family == program::Family::kLlama) spec.model.hidden = 10;
    return spec;
}

std::vector<float>& array_of(program::SlotArrays& state, int array) {
    return array == 0 ? state.parameters : array == 1 ? state.first_moment : state.second_moment;
}
}  // namespace

TEST_CASE("a diverging step names the reference's operator and leaves the state alone",
          "[trainer][executor]") {
    std::map<program::Profile, std::set<program::OperatorKind>> named;
    for (const program::JobSpec& job : test::small_jobs()) {
        const program::JobSpec spec = smaller(job);
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto coefficients = program::Schedule(spec.train).at(0, 0);
        const auto tokens = test::batch_of(spec, kBatchOfThree, 200);
        std::vector<std::unique_ptr<test::ExecutorMachine>> machines;
        for (const Target target : test::all_targets()) {
            for (const PlanChoice& choice : {PlanChoice{1}, PlanChoice{2, Rematerialise::kLayers, 9}}) {
                machines.push_back(
                    std::make_unique<test::ExecutorMachine>(program, target, 1, choice, kBatchOfThree));
            }
        }
        for (const PlantedNumber& fault : faults_of(program)) {
            INFO(spec.name << ", element " << fault.element << " of array " << fault.array << " is "
                           << fault.value);
            program::SlotArrays before = test::initial_state(spec);
            array_of(before, fault.array)[fault.element] = fault.value;
            program::SlotArrays expected = before;
            const auto reference = program::reference_step(program, coefficients, tokens, expected);
            if (reference.diverged) named[spec.profile].insert(program.operators[*reference.diverged].kind);
            for (const auto& machine : machines) {
                program::SlotArrays state = before;
                const auto result = machine->step(coefficients, tokens, state);
                REQUIRE(result.diverged == reference.diverged);
                REQUIRE(test::same(state, reference.diverged ? before : expected));
            }
        }
    }
    using Kind = program::OperatorKind;
    for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
        for (const Kind kind : {Kind::kLayerNorm, Kind::kRmsNorm, Kind::kLinear, Kind::kAttentionScores,
                                Kind::kHead, Kind::kLossTotal, Kind::kGeluGradient}) {
            INFO(to_text(profile) << ", " << to_text(kind));
            CHECK(named[profile].contains(kind));
        }
        CHECK(named[profile].size() >= 10);
    }
}

TEST_CASE("a step after a diverging one has the bits of the reference", "[trainer][executor]") {
    const program::JobSpec spec = test::small_job();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const auto coefficients = program::Schedule(spec.train).at(0, 0);
    const auto tokens = test::batch_of(spec, kBatchOfThree, 200);
    test::ExecutorMachine machine(program, test::all_targets().front(), 2, {2}, kBatchOfThree);
    program::SlotArrays broken = test::initial_state(spec);
    broken.parameters[program.parameters.back().offset] = 3e38F;  // token 0's row of the embedding
    REQUIRE(machine.step(coefficients, tokens, broken).diverged);
    program::SlotArrays expected = test::initial_state(spec);
    program::SlotArrays state = expected;
    program::reference_step(program, coefficients, tokens, expected);
    REQUIRE_FALSE(machine.step(coefficients, tokens, state).diverged);
    CHECK(test::same(state, expected));
}

}  // namespace assay::trainer
