// SPDX-License-Identifier: Apache-2.0
#include "verifier/replay.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/contradiction.hpp"
#include "contracts/program/round_plan.hpp"
#include "node/worker/program/drill.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/slot_files.hpp"
#include "tests/support/tiny_job.hpp"
#include "tests/verifier/drilled_bench.hpp"
#include "trainer/run/state_bytes.hpp"

using namespace assay;
using tests::DrillBench;
using tests::TrainedRound;
using verifier::UnitVerdict;
using worker::Drill;
using worker::DrillKind;

TEST_CASE("a round without drills is the round of an honest miner") {
    DrillBench bench;
    const TrainedRound drilled = bench.train({});
    const auto honest = bench.runner->run_slot_round(drilled.base, 0, 1, std::nullopt, {}, {});
    REQUIRE(honest.ok());
    CHECK(honest->trace == drilled.work.trace);
    CHECK(honest->end == drilled.work.end);
    CHECK(honest->update == drilled.work.update);
}

TEST_CASE("every unit of an honest round is computed as its trace claims, part by part") {
    DrillBench bench;
    const TrainedRound round = bench.train({});
    for (std::uint32_t unit = 0; unit < program::RoundPlan(bench.job.spec).units(); ++unit) {
        const auto result = bench.compute(bench.input(round, unit));
        INFO("unit " << unit << ": " << result.why);
        CHECK(result.verdict == UnitVerdict::kComputed);
        CHECK(result.parts.unit_root == program::unit_root(round.work.trace, bench.job.spec, unit));
        CHECK(result.parts == worker::claimed_parts(round.work.trace, bench.job.spec, unit));
        CHECK(bench.difference(round, unit).empty());
    }
}

TEST_CASE("a flipped bit is found in its segment alone and its boundary named") {
    DrillBench bench;
    const TrainedRound round = bench.train({Drill{DrillKind::kFlip, 1, "h.1.mlp.c_fc.weight", 70, 3}});
    for (std::uint32_t unit = 0; unit < program::RoundPlan(bench.job.spec).units(); ++unit) {
        const std::string difference = bench.difference(round, unit);
        INFO("unit " << unit << ": " << difference);
        CHECK(difference.empty() == (unit != 1));
        if (unit == 1) CHECK(difference.starts_with("boundary 2: claimed root "));
    }
}

TEST_CASE("an ulp changes one parameter to its neighbour") {
    DrillBench bench;
    const TrainedRound honest = bench.train({});
    const TrainedRound round = bench.train({Drill{DrillKind::kUlp, 2, "wte.weight", 0, 0}});
    CHECK(round.boundaries[2] == honest.boundaries[2]);
    auto repaired = round.boundaries[3];
    const auto tensors = bench.runner->tensors();
    float& number = repaired.parameters[tensors[program::tensor_index(tensors, "wte.weight")].offset];
    number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) - 1);
    CHECK(repaired == honest.boundaries[3]);
    CHECK(bench.difference(round, 2).starts_with("boundary 3: claimed root "));
}

TEST_CASE("a lazy segment is found, the segments around it are honest") {
    DrillBench bench;
    const TrainedRound honest = bench.train({});
    const TrainedRound round = bench.train({Drill{DrillKind::kLazy, 1, "", 0, 0}});
    REQUIRE(program::is_well_formed(round.work.trace, bench.job.spec));
    CHECK(round.boundaries[1] == honest.boundaries[1]);
    CHECK(round.boundaries[2].step == honest.boundaries[2].step);
    CHECK(round.boundaries[2].cursor == honest.boundaries[2].cursor);
    CHECK(bench.difference(round, 0).empty());
    const std::string first = "step " + std::to_string(program::RoundPlan(bench.job.spec).steps(1).first);
    CHECK(bench.difference(round, 1).find(first + ": claimed loss bits") != std::string::npos);
    CHECK(bench.difference(round, 2).empty());
    CHECK(bench.difference(round, 3).empty());
}

TEST_CASE("a false update is found in finalise and named") {
    DrillBench bench;
    TrainedRound round = bench.train({});
    REQUIRE(round.work.update.has_value());
    round.work.update->values[5] ^= 1;
    round.work.trace.update = bench.runner->update_root(*round.work.update);
    const std::uint32_t finalise = program::RoundPlan(bench.job.spec).finalise();
    CHECK(bench.difference(round, finalise).starts_with("update: claimed root "));
    const auto result = bench.compute(bench.input(round, finalise));
    REQUIRE(result.update.has_value());
    CHECK(bench.runner->update_root(*result.update) == result.parts.update);
    CHECK(result.parts.update != round.work.trace.update);
}

TEST_CASE("a changed fingerprint is found and its step named") {
    DrillBench bench;
    TrainedRound round = bench.train({});
    round.work.trace.fingerprints[3].loss ^= 1;
    CHECK(bench.difference(round, 1).starts_with("step 3: claimed loss bits"));
}

TEST_CASE("behind a divergence the parts are those of the trace's shape") {
    for (const bool carries : {false, true}) {
        tests::TinyJob job = tests::tiny_job();
        if (carries) job.spec.inner_state = program::InnerState::kCarried;
        const program::RoundPlan plan(job.spec);
        const auto root = [](const char* name) { return base::hash("test", base::as_bytes(name)); };
        program::TraceRecord trace;
        trace.boundaries = {root("0"), root("1"), root("2"), root("2")};
        trace.divergence = program::Divergence{plan.steps(1).first + 1, 7};
        trace.fingerprints.resize(plan.steps(1).first + 1);
        if (carries) trace.carried.emplace();
        REQUIRE(program::is_well_formed(trace, job.spec));
        for (std::uint32_t unit = 2; unit < plan.units(); ++unit) {
            const auto parts = worker::parts_behind_divergence(job.spec, unit, root("2"));
            CHECK(parts == worker::claimed_parts(trace, job.spec, unit));
            CHECK(worker::name_difference(trace, job.spec, unit, parts).empty());
        }
        // Another divergence in the same segment.
        auto other = worker::claimed_parts(trace, job.spec, 1);
        ++other.divergence->operator_index;
        other.unit_root = program::segment_unit_root(other.end_root, other.fingerprints, other.divergence);
        CHECK(worker::name_difference(trace, job.spec, 1, other) ==
              "the claimed divergence is not the recomputed one");
    }
}

TEST_CASE("a start that is missing or not the opened one makes a unit unavailable") {
    DrillBench bench;
    const TrainedRound round = bench.train({});
    auto input = bench.input(round, 1);
    input.start->parameters[0] += 1.0F;
    CHECK(bench.compute(input).verdict == UnitVerdict::kUnavailable);
    input.start.reset();
    const auto result = bench.compute(input);
    CHECK(result.verdict == UnitVerdict::kUnavailable);
    CHECK(result.parts == worker::UnitParts());
    CHECK_FALSE(result.why.empty());
}

namespace {

/// The same round with one boundary's state changed, and its root claimed as the change gives it.
TrainedRound with_boundary(const DrillBench& bench, TrainedRound round, std::uint32_t boundary,
                           const std::function<void(trainer::SlotState&)>& change) {
    change(round.boundaries[boundary]);
    round.work.trace.boundaries[boundary] = bench.runner->state_root(round.boundaries[boundary]);
    return round;
}

struct Misplacing {
    const char* name;
    std::function<void(trainer::SlotState&)> change;
};
const std::vector<Misplacing>& misplacings() {
    static const std::vector<Misplacing> all = {
        {"a step more", [](auto& state) { state.step += 1; }},
        {"a step of 64 bits", [](auto& state) { state.step = ~std::uint64_t{0}; }},
        {"another cursor", [](auto& state) { state.cursor += 5; }},
        {"cursor 0", [](auto& state) { state.cursor = 0; }},
        {"not a number", [](auto& state) { state.parameters[3] = std::bit_cast<float>(0x7fc00000U); }},
        {"infinite", [](auto& state) { state.second_moment.back() = std::bit_cast<float>(0x7f800000U); }},
    };
    return all;
}

}  // namespace

TEST_CASE(
    "a state with the claimed root that cannot stand at its boundary is a mismatch, alike for everyone") {
    DrillBench bench;
    const TrainedRound honest = bench.train({});
    for (const auto& [name, change] : misplacings()) {
        for (std::uint32_t unit = 1; unit <= program::RoundPlan(bench.job.spec).segments(); ++unit) {
            const TrainedRound round = with_boundary(bench, honest, unit, change);
            INFO(name << " before unit " << unit);
            const auto result = bench.compute(bench.input(round, unit));
            const bool in_moment = !std::isfinite(round.boundaries[unit].second_moment.back());
            if (in_moment && program::RoundPlan(bench.job.spec).is_finalise(unit)) {
                CHECK(result.verdict == UnitVerdict::kComputed);  // it reads none
                continue;
            }
            CHECK(result.verdict == UnitVerdict::kMisplaced);
            CHECK(result.why.find("cannot stand there") != std::string::npos);
            // Whoever is served those bytes says the same: nothing of it depends on what else is at hand.
            CHECK(result.parts.unit_root == program::misplaced_unit_root(round.work.trace.boundaries[unit]));
            CHECK(result.parts.unit_root != program::unit_root(round.work.trace, bench.job.spec, unit));
        }
    }
}

TEST_CASE("the boundary that is told right by what follows it is a mismatch all the same") {
    // The segment after it starts from its numbers and ends as an honest one would: only the place is false.
    DrillBench bench;
    const TrainedRound honest = bench.train({});
    const TrainedRound round = with_boundary(bench, honest, 1, [](auto& state) { state.cursor += 1; });
    REQUIRE(program::unit_root(round.work.trace, bench.job.spec, 1) ==
            program::unit_root(honest.work.trace, bench.job.spec, 1));
    CHECK(bench.compute(bench.input(round, 1)).verdict == UnitVerdict::kMisplaced);
}

TEST_CASE(
    "finalise is judged by parameters and a head, whose names of the other arrays are part of the root") {
    DrillBench bench;
    const TrainedRound round = bench.train({});
    const std::uint32_t finalise = program::RoundPlan(bench.job.spec).finalise();
    auto input = bench.input(round, finalise);
    input.start_roots = bench.runner->state_roots(*input.start);
    CHECK(bench.compute(input).parts.unit_root ==
          program::unit_root(round.work.trace, bench.job.spec, input.place.unit));
    input.start->first_moment.clear();
    input.start->second_moment.clear();
    CHECK(bench.compute(input).parts.unit_root ==
          program::unit_root(round.work.trace, bench.job.spec, input.place.unit));
    const auto is_unavailable = [&](const verifier::UnitInput& one, const char* why) {
        const auto result = bench.compute(one);
        INFO(result.why);
        CHECK(result.verdict == UnitVerdict::kUnavailable);
        CHECK(result.why.find(why) != std::string::npos);
    };
    auto lying = input;
    lying.start_roots->second_moment = lying.start_roots->first_moment;
    is_unavailable(lying, "its miner opened");
    lying = input;
    lying.start_roots->parameters = lying.start_roots->first_moment;
    is_unavailable(lying, "names other roots");
    lying = input;
    lying.start_roots->data_cursor += 1;
    is_unavailable(lying, "names other roots");
    lying = input;
    lying.start->parameters[4] += 1.0F;
    is_unavailable(lying, "names other roots");
    lying = input;
    lying.start_roots.reset();
    is_unavailable(lying, "its miner opened");
    // A number that is not finite counts where it is read, and the head's place always.
    auto parameters = round;
    parameters.boundaries[finalise].parameters[2] = __builtin_inff();
    parameters.work.trace.boundaries[finalise] = bench.runner->state_root(parameters.boundaries[finalise]);
    CHECK(bench.compute(bench.input(parameters, finalise)).verdict == UnitVerdict::kMisplaced);
    auto place = round;
    place.boundaries[finalise].cursor += 1;
    place.work.trace.boundaries[finalise] = bench.runner->state_root(place.boundaries[finalise]);
    auto misplaced = bench.input(place, finalise);
    misplaced.start_roots = bench.runner->state_roots(*misplaced.start);
    misplaced.start->first_moment.clear();
    misplaced.start->second_moment.clear();
    CHECK(bench.compute(misplaced).parts.unit_root ==
          program::misplaced_unit_root(place.work.trace.boundaries[finalise]));
}

TEST_CASE("a segment whose start has a head that names other roots is as if nothing was served") {
    DrillBench bench;
    const TrainedRound round = bench.train({});
    auto input = bench.input(round, 1);
    input.start_roots = bench.runner->state_roots(*input.start);
    CHECK(bench.compute(input).parts.unit_root ==
          program::unit_root(round.work.trace, bench.job.spec, input.place.unit));
    input.start_roots->second_moment = input.start_roots->first_moment;
    CHECK(bench.compute(input).verdict == UnitVerdict::kUnavailable);
}

TEST_CASE("no trace can claim the root of a contradiction") {
    DrillBench bench;
    const TrainedRound round = bench.train({});
    std::set<base::Hash256> roots;
    for (std::uint32_t unit = 0; unit < program::RoundPlan(bench.job.spec).units(); ++unit) {
        roots.insert(program::unit_root(round.work.trace, bench.job.spec, unit));
    }
    for (const base::Hash256& root : round.work.trace.boundaries) {
        CHECK_FALSE(roots.contains(program::misplaced_unit_root(root)));
        CHECK(program::misplaced_unit_root(root) != program::finalise_unit_root(root));
    }
}

TEST_CASE("a unit that does not exist is refused") {
    DrillBench bench;
    const TrainedRound round = bench.train({});
    auto input = bench.input(round, 1);
    input.place.unit = program::RoundPlan(bench.job.spec).units();
    CHECK_FALSE(verifier::compute_unit(*bench.runner, input, {}).ok());
}

TEST_CASE("drills that do not fit the job are refused by name") {
    DrillBench bench;
    const auto fault = [&](const Drill& drill) { return verifier::drill_fault(*bench.runner, {drill}, 1); };
    CHECK(fault({DrillKind::kStale, 0, "", 0, 0}).empty());
    CHECK(verifier::drill_fault(*bench.runner, {{DrillKind::kStale, 0, "", 0, 0}}, 0).find("stale-base") !=
          std::string::npos);
    CHECK(fault({DrillKind::kFlip, 0, "wte.weight", 0, 31}).empty());
    CHECK(fault({DrillKind::kLazy, 3, "", 0, 0}).find("segment 3") != std::string::npos);
    CHECK(fault({DrillKind::kFlip, 0, "nothing", 0, 0}).find("nothing") != std::string::npos);
    CHECK(fault({DrillKind::kUlp, 0, "wte.weight", 29 * 16, 0}).find("464") != std::string::npos);
    CHECK(fault({DrillKind::kFlip, 0, "wte.weight", 0, 32}).find("bit 32") != std::string::npos);
}

namespace {

/// A second round of slot 1 of a job that carries, after an honest first.
struct CarryingBench {
    DrillBench bench;
    trainer::SlotState before;  ///< end of the first round
    TrainedRound round;

    CarryingBench() {
        bench.job.spec.inner_state = program::InnerState::kCarried;
        bench.runner = DrillBench::make(bench.job);
        const TrainedRound first = bench.train({});
        before = first.work.end;
        round.base =
            bench.runner->merge(first.base, std::vector<trainer::AcceptedUpdate>{{1, 1, &*first.work.update}})
                .value();
        const trainer::CarriedState carried = trainer::carried_of(before);
        round.boundaries.push_back(bench.runner->start(round.base, &carried).value());
        const auto keep = [&](const trainer::BoundaryReport& boundary) {
            round.boundaries.push_back(boundary.state);
        };
        round.work = bench.runner->run_slot_round(round.base, 1, 1, std::nullopt, keep, {}, &carried).value();
    }
    verifier::UnitInput input(std::uint32_t unit) {
        verifier::UnitInput input = bench.input(round, unit);
        input.place.round = 1;
        if (unit == 0) {
            input.carried = before;
            input.carried_in = round.work.trace.carried->in;
        }
        return input;
    }
};

}  // namespace

TEST_CASE("every unit of a round that carries is computed as its trace claims") {
    CarryingBench carrying;
    const program::JobSpec& spec = carrying.bench.job.spec;
    for (std::uint32_t unit = 0; unit < program::RoundPlan(spec).units(); ++unit) {
        const auto result = carrying.bench.compute(carrying.input(unit));
        INFO("unit " << unit << ": " << result.why);
        CHECK(result.parts == worker::claimed_parts(carrying.round.work.trace, spec, unit));
    }
}

TEST_CASE("a carried state that is not served, or is another, is unavailable") {
    CarryingBench carrying;
    verifier::UnitInput input = carrying.input(0);
    input.carried.reset();
    CHECK(carrying.bench.compute(input).verdict == UnitVerdict::kUnavailable);
    input.carried = carrying.before;
    input.carried->second_moment[5] += 1.0F;
    CHECK(carrying.bench.compute(input).verdict == UnitVerdict::kUnavailable);
    input.carried = carrying.before;
    *input.carried->age += 1;
    CHECK(carrying.bench.compute(input).verdict == UnitVerdict::kUnavailable);
}

TEST_CASE("a round that does not go on with what it says is found in its first segment") {
    CarryingBench carrying;
    verifier::UnitInput input = carrying.input(0);
    input.carried_in = {};  // as if it had begun with nothing
    const auto result = carrying.bench.compute(input);
    CHECK(result.verdict == UnitVerdict::kComputed);
    CHECK_FALSE(
        worker::name_difference(carrying.round.work.trace, carrying.bench.job.spec, 0, result.parts).empty());
}

TEST_CASE("handing on another state than the round's end is found in finalise and named") {
    CarryingBench carrying;
    const program::JobSpec& spec = carrying.bench.job.spec;
    const std::uint32_t finalise = program::RoundPlan(spec).finalise();
    program::TraceRecord claimed = carrying.round.work.trace;
    claimed.carried->out = base::hash("assay/test", {});
    const auto result = carrying.bench.compute(carrying.input(finalise));
    CHECK(worker::name_difference(claimed, spec, finalise, result.parts)
              .starts_with("carried state: claimed root"));
}
