// SPDX-License-Identifier: Apache-2.0
// A step that diverges names the operator that the reference names, and leaves the state alone.
#include <map>
#include <set>

#include "contracts/program/names.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "tests/trainer/planted_numbers.hpp"

namespace assay::trainer {
namespace {
using test::array_of;
using test::faults_of;
using test::PlantedNumber;
using test::smaller;

constexpr std::uint32_t kBatchOfThree = 3;

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
    for (const program::JobSpec& spec : test::small_jobs()) {
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto coefficients = program::Schedule(spec.train).at(0, 0);
        const auto tokens = test::batch_of(spec, kBatchOfThree, 200);
        for (const Target target : test::all_targets()) {
            INFO(spec.name << ", " << to_text(target));
            test::ExecutorMachine machine(program, target, 2, {2}, kBatchOfThree);
            program::SlotArrays broken = test::initial_state(spec);
            for (float& weight : broken.parameters) weight *= 3e30F;
            REQUIRE(machine.step(coefficients, tokens, broken).diverged);
            program::SlotArrays expected = test::initial_state(spec);
            program::SlotArrays state = expected;
            program::reference_step(program, coefficients, tokens, expected);
            REQUIRE_FALSE(machine.step(coefficients, tokens, state).diverged);
            CHECK(test::same(state, expected));
        }
    }
}

}  // namespace assay::trainer
