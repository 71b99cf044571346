// SPDX-License-Identifier: Apache-2.0
#include "verifier/replay.hpp"

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
#include "trainer/run/state_bytes.hpp"

using namespace assay;
using verifier::UnitVerdict;
using worker::Drill;
using worker::DrillKind;

namespace {

/// A slot's round with everything that its miner could serve.
struct TrainedRound {
    trainer::BaseState base;
    std::vector<trainer::SlotState> boundaries;  // 0 … segments
    trainer::SlotRoundOutcome work;
};

struct Bench {
    tests::TinyJob job = tests::tiny_job();
    std::unique_ptr<trainer::JobRunner> runner = make(job);

    static std::unique_ptr<trainer::JobRunner> make(const tests::TinyJob& job) {
        auto runner = trainer::JobRunner::create(job.spec, {job.tokens}, {job.tokens}, {});
        REQUIRE(runner.ok());
        return std::move(runner).value();
    }

    TrainedRound train(const std::vector<Drill>& drills, std::uint32_t slot = 1) {
        TrainedRound round;
        round.base = runner->initial();
        round.boundaries.push_back(runner->start(round.base).value());
        const auto keep = [&](const trainer::BoundaryReport& boundary) {
            round.boundaries.push_back(boundary.state);
        };
        auto work = verifier::run_drilled_round(*runner, round.base, 0, slot, std::nullopt, drills, keep, {});
        REQUIRE(work.ok());
        round.work = std::move(work).value();
        return round;
    }

    verifier::UnitInput input(const TrainedRound& round, std::uint32_t unit, std::uint32_t slot = 1) const {
        verifier::UnitInput input;
        input.place = {0, slot, unit};
        input.claimed = round.work.trace;
        if (unit == 0 || unit == program::RoundPlan(job.spec).segments()) input.base = round.base;
        if (unit > 0) input.start = round.boundaries[unit];
        if (unit < program::RoundPlan(job.spec).segments()) {
            input.claimed_end = round.boundaries[unit + 1];
        } else {
            input.claimed_update = round.work.update;
        }
        return input;
    }

    verifier::UnitResult check(const verifier::UnitInput& input) {
        auto result = verifier::check_unit(*runner, input, {});
        REQUIRE(result.ok());
        return std::move(result).value();
    }
};

}  // namespace

TEST_CASE("a round without drills is the round of an honest miner") {
    Bench bench;
    const TrainedRound drilled = bench.train({});
    const auto honest = bench.runner->run_slot_round(drilled.base, 0, 1, std::nullopt, {}, {});
    REQUIRE(honest.ok());
    CHECK(honest->trace == drilled.work.trace);
    CHECK(honest->end == drilled.work.end);
    CHECK(honest->update == drilled.work.update);
}

TEST_CASE("every unit of an honest round replays to a match") {
    Bench bench;
    const TrainedRound round = bench.train({});
    for (std::uint32_t unit = 0; unit < program::RoundPlan(bench.job.spec).units(); ++unit) {
        const auto result = bench.check(bench.input(round, unit));
        INFO("unit " << unit << ": " << result.difference);
        CHECK(result.verdict == UnitVerdict::kMatch);
        CHECK(result.unit_root == program::unit_root(round.work.trace, bench.job.spec, unit));
        CHECK(result.difference.empty());
    }
}

TEST_CASE("a flipped bit is found in its segment alone and named") {
    Bench bench;
    const Drill flip{DrillKind::kFlip, 1, "h.1.mlp.c_fc.weight", 70, 3};
    const TrainedRound round = bench.train({flip});
    for (std::uint32_t unit = 0; unit < program::RoundPlan(bench.job.spec).units(); ++unit) {
        const auto result = bench.check(bench.input(round, unit));
        INFO("unit " << unit << ": " << result.difference);
        CHECK(result.verdict == (unit == 1 ? UnitVerdict::kDiffers : UnitVerdict::kMatch));
        if (unit != 1) continue;
        CHECK(result.difference.find(
                  "parameters: h.1.mlp.c_fc.weight[70] (row 1, column 6) differs in bit 3") !=
              std::string::npos);
        CHECK(result.difference.find("1 element differs") != std::string::npos);
        CHECK(result.unit_root != result.claimed_root);
    }
}

TEST_CASE("an ulp changes one parameter to its neighbour") {
    Bench bench;
    const TrainedRound honest = bench.train({});
    const TrainedRound round = bench.train({Drill{DrillKind::kUlp, 2, "wte.weight", 0, 0}});
    CHECK(round.boundaries[2] == honest.boundaries[2]);
    auto repaired = round.boundaries[3];
    const auto tensors = bench.runner->tensors();
    float& number = repaired.parameters[tensors[program::tensor_index(tensors, "wte.weight")].offset];
    number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) - 1);
    CHECK(repaired == honest.boundaries[3]);
    CHECK(bench.check(bench.input(round, 2)).verdict == UnitVerdict::kDiffers);
}

TEST_CASE("a lazy segment is found, the segments around it are honest") {
    Bench bench;
    const TrainedRound honest = bench.train({});
    const TrainedRound round = bench.train({Drill{DrillKind::kLazy, 1, "", 0, 0}});
    REQUIRE(program::is_well_formed(round.work.trace, bench.job.spec));
    CHECK(round.boundaries[1] == honest.boundaries[1]);
    CHECK(round.boundaries[2].step == honest.boundaries[2].step);
    CHECK(round.boundaries[2].cursor == honest.boundaries[2].cursor);
    CHECK(bench.check(bench.input(round, 0)).verdict == UnitVerdict::kMatch);
    const auto lazy = bench.check(bench.input(round, 1));
    CHECK(lazy.verdict == UnitVerdict::kDiffers);
    CHECK(lazy.difference.find("elements differ") != std::string::npos);
    CHECK(bench.check(bench.input(round, 2)).verdict == UnitVerdict::kMatch);
    CHECK(bench.check(bench.input(round, 3)).verdict == UnitVerdict::kMatch);
}

TEST_CASE("a false update is found in finalise and named") {
    Bench bench;
    TrainedRound round = bench.train({});
    REQUIRE(round.work.update.has_value());
    round.work.update->values[5] ^= 1;
    round.work.trace.update = bench.runner->update_root(*round.work.update);
    const auto result = bench.check(bench.input(round, program::RoundPlan(bench.job.spec).segments()));
    CHECK(result.verdict == UnitVerdict::kDiffers);
    CHECK(result.difference.find("differs in bit 0") != std::string::npos);
    REQUIRE(result.update.has_value());
    CHECK(bench.runner->update_root(*result.update) != round.work.trace.update);
}

TEST_CASE("a changed fingerprint is found and its step named") {
    Bench bench;
    TrainedRound round = bench.train({});
    round.work.trace.fingerprints[3].loss ^= 1;
    const auto result = bench.check(bench.input(round, 1));
    CHECK(result.verdict == UnitVerdict::kDiffers);
    CHECK(result.difference.find("step 3: claimed loss bits") != std::string::npos);
}

TEST_CASE("a start that is missing or not the claimed one makes a unit unavailable") {
    Bench bench;
    const TrainedRound round = bench.train({});
    auto input = bench.input(round, 1);
    input.start->parameters[0] += 1.0F;
    CHECK(bench.check(input).verdict == UnitVerdict::kUnavailable);
    input.start.reset();
    const auto result = bench.check(input);
    CHECK(result.verdict == UnitVerdict::kUnavailable);
    CHECK(result.unit_root.is_zero());
    CHECK_FALSE(result.difference.empty());
}

namespace {

/// The same round with one boundary's state changed, and its root claimed as the change gives it.
TrainedRound with_boundary(const Bench& bench, TrainedRound round, std::uint32_t boundary,
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
    Bench bench;
    const TrainedRound honest = bench.train({});
    for (const auto& [name, change] : misplacings()) {
        for (std::uint32_t unit = 1; unit <= program::RoundPlan(bench.job.spec).segments(); ++unit) {
            const TrainedRound round = with_boundary(bench, honest, unit, change);
            INFO(name << " before unit " << unit);
            const auto judged = verifier::check_unit(*bench.runner, bench.input(round, unit), {});
            REQUIRE(judged.ok());
            const bool in_moment = !std::isfinite(round.boundaries[unit].second_moment.back());
            if (in_moment && program::RoundPlan(bench.job.spec).is_finalise(unit)) {
                CHECK(judged->verdict == UnitVerdict::kMatch);  // it reads none
                continue;
            }
            CHECK(judged->verdict == UnitVerdict::kDiffers);
            CHECK_FALSE(judged->unit_root.is_zero());
            CHECK(judged->unit_root != judged->claimed_root);
            CHECK(judged->claimed_root == program::unit_root(round.work.trace, bench.job.spec, unit));
            CHECK(judged->difference.find("cannot stand there") != std::string::npos);
            // Whoever is served those bytes says the same: nothing of it depends on what else is at hand.
            Bench other;
            auto bare = other.input(round, unit);
            bare.claimed_end.reset();
            bare.claimed_update.reset();
            CHECK(other.check(bare).unit_root == judged->unit_root);
            CHECK(other.check(bare).unit_root ==
                  program::misplaced_unit_root(round.work.trace.boundaries[unit]));
        }
    }
}

TEST_CASE("the boundary that is told right by what follows it is a mismatch all the same") {
    // The segment after it starts from its numbers and ends as an honest one would: only the place is false.
    Bench bench;
    const TrainedRound honest = bench.train({});
    const TrainedRound round = with_boundary(bench, honest, 1, [](auto& state) { state.cursor += 1; });
    REQUIRE(program::unit_root(round.work.trace, bench.job.spec, 1) ==
            program::unit_root(honest.work.trace, bench.job.spec, 1));
    CHECK(bench.check(bench.input(round, 1)).verdict == UnitVerdict::kDiffers);
}

TEST_CASE(
    "finalise is judged by parameters and a head, whose names of the other arrays are part of the root") {
    Bench bench;
    const TrainedRound round = bench.train({});
    const std::uint32_t finalise = program::RoundPlan(bench.job.spec).finalise();
    auto input = bench.input(round, finalise);
    input.start_roots = bench.runner->state_roots(*input.start);
    CHECK(bench.check(input).verdict == UnitVerdict::kMatch);
    input.start->first_moment.clear();
    input.start->second_moment.clear();
    CHECK(bench.check(input).verdict == UnitVerdict::kMatch);
    const auto is_unavailable = [&](const verifier::UnitInput& one, const char* why) {
        const auto result = bench.check(one);
        INFO(result.difference);
        CHECK(result.verdict == UnitVerdict::kUnavailable);
        CHECK(result.difference.find(why) != std::string::npos);
    };
    auto lying = input;
    lying.start_roots->second_moment = lying.start_roots->first_moment;
    is_unavailable(lying, "the trace says");
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
    is_unavailable(lying, "the trace says");
    // A number that is not finite counts where it is read, and the head's place always.
    auto parameters = round;
    parameters.boundaries[finalise].parameters[2] = __builtin_inff();
    parameters.work.trace.boundaries[finalise] = bench.runner->state_root(parameters.boundaries[finalise]);
    CHECK(bench.check(bench.input(parameters, finalise)).verdict == UnitVerdict::kDiffers);
    auto place = round;
    place.boundaries[finalise].cursor += 1;
    place.work.trace.boundaries[finalise] = bench.runner->state_root(place.boundaries[finalise]);
    auto misplaced = bench.input(place, finalise);
    misplaced.start_roots = bench.runner->state_roots(*misplaced.start);
    misplaced.start->first_moment.clear();
    misplaced.start->second_moment.clear();
    CHECK(bench.check(misplaced).unit_root ==
          program::misplaced_unit_root(place.work.trace.boundaries[finalise]));
}

TEST_CASE("a segment whose start has a head that names other roots is as if nothing was served") {
    Bench bench;
    const TrainedRound round = bench.train({});
    auto input = bench.input(round, 1);
    input.start_roots = bench.runner->state_roots(*input.start);
    CHECK(bench.check(input).verdict == UnitVerdict::kMatch);
    input.start_roots->second_moment = input.start_roots->first_moment;
    CHECK(bench.check(input).verdict == UnitVerdict::kUnavailable);
}

TEST_CASE("an update whose reveal names another file is a mismatch, and the right name is none") {
    Bench bench;
    const TrainedRound round = bench.train({});
    const std::uint32_t finalise = program::RoundPlan(bench.job.spec).segments();
    auto input = bench.input(round, finalise);
    const base::Hash256 file = base::blob_id(trainer::encode_update(*round.work.update, bench.job.spec));
    input.update_blob = file;
    CHECK(bench.check(input).verdict == UnitVerdict::kMatch);
    input.update_blob = base::hash("test", base::as_bytes("another file"));
    const auto misnamed = bench.check(input);
    CHECK(misnamed.verdict == UnitVerdict::kDiffers);
    CHECK(misnamed.unit_root == program::misnamed_unit_root(file));
    CHECK(misnamed.named);
    // A wrong update stays what it is, whatever its file is called.
    input.claimed.update = base::hash("test", base::as_bytes("another update"));
    CHECK(bench.check(input).unit_root == program::unit_root(round.work.trace, bench.job.spec, finalise));
}

TEST_CASE("in jobs that carry, a last boundary whose reveal names another file is a mismatch") {
    for (const bool carries : {true, false}) {
        INFO("carries: " << carries);
        Bench bench;
        if (carries) bench.job.spec.inner_state = program::InnerState::kCarried;
        bench.runner = Bench::make(bench.job);
        const TrainedRound round = bench.train({});
        const std::uint32_t finalise = program::RoundPlan(bench.job.spec).finalise();
        auto input = bench.input(round, finalise);
        // As from a verifier that recomputed the segment before: the start is right, whatever it is called.
        const base::Hash256 file = base::blob_id(
            program::encode_state_head(tests::head_of_state(bench.job.spec, round.boundaries.back())));
        input.last_boundary_blob = file;
        CHECK(bench.check(input).verdict == UnitVerdict::kMatch);
        input.last_boundary_blob = base::hash("test", base::as_bytes("another file"));
        const auto misnamed = bench.check(input);
        if (!carries) {
            CHECK(misnamed.verdict == UnitVerdict::kMatch);  // nobody goes on from that file
            continue;
        }
        CHECK(misnamed.verdict == UnitVerdict::kDiffers);
        CHECK(misnamed.unit_root == program::misnamed_unit_root(file));
        CHECK(misnamed.named);
        CHECK(misnamed.difference.find("the state at the last boundary") != std::string::npos);
        // Of two misnamed files everybody names the update.
        input.update_blob = base::hash("test", base::as_bytes("a third file"));
        const base::Hash256 update =
            base::blob_id(trainer::encode_update(*round.work.update, bench.job.spec));
        CHECK(bench.check(input).unit_root == program::misnamed_unit_root(update));
        input.claimed.update = base::hash("test", base::as_bytes("another update"));
        CHECK(bench.check(input).unit_root == program::unit_root(round.work.trace, bench.job.spec, finalise));
    }
}

TEST_CASE("no trace can claim the root of a contradiction") {
    Bench bench;
    const TrainedRound round = bench.train({});
    std::set<base::Hash256> roots;
    for (std::uint32_t unit = 0; unit < program::RoundPlan(bench.job.spec).units(); ++unit) {
        roots.insert(program::unit_root(round.work.trace, bench.job.spec, unit));
    }
    for (const base::Hash256& root : round.work.trace.boundaries) {
        CHECK_FALSE(roots.contains(program::misplaced_unit_root(root)));
        CHECK(program::misplaced_unit_root(root) != program::finalise_unit_root(root));
        CHECK(program::misplaced_unit_root(root) != program::misnamed_unit_root(root));
        CHECK(program::misnamed_unit_root(root) != program::finalise_unit_root(root));
    }
}

TEST_CASE("a wrong end served with a false claim does not hide the difference") {
    Bench bench;
    const TrainedRound round = bench.train({Drill{DrillKind::kFlip, 0, "wpe.weight", 1, 20}});
    auto input = bench.input(round, 0);
    input.claimed_end->parameters[0] += 1.0F;
    const auto served_other = bench.check(input);
    CHECK(served_other.verdict == UnitVerdict::kDiffers);
    CHECK(served_other.difference.find("boundary 1: claimed root") != std::string::npos);
}

TEST_CASE("a trace that does not fit the job is refused") {
    Bench bench;
    const TrainedRound round = bench.train({});
    auto input = bench.input(round, 1);
    input.claimed.boundaries.pop_back();
    CHECK_FALSE(verifier::check_unit(*bench.runner, input, {}).ok());
    input = bench.input(round, 1);
    input.place.unit = program::RoundPlan(bench.job.spec).units();
    CHECK_FALSE(verifier::check_unit(*bench.runner, input, {}).ok());
}

TEST_CASE("drills that do not fit the job are refused by name") {
    Bench bench;
    const auto fault = [&](const Drill& drill) { return verifier::drill_fault(*bench.runner, {drill}); };
    CHECK(fault({DrillKind::kFlip, 0, "wte.weight", 0, 31}).empty());
    CHECK(fault({DrillKind::kLazy, 3, "", 0, 0}).find("segment 3") != std::string::npos);
    CHECK(fault({DrillKind::kFlip, 0, "nothing", 0, 0}).find("nothing") != std::string::npos);
    CHECK(fault({DrillKind::kUlp, 0, "wte.weight", 29 * 16, 0}).find("464") != std::string::npos);
    CHECK(fault({DrillKind::kFlip, 0, "wte.weight", 0, 32}).find("bit 32") != std::string::npos);
}

namespace {

/// A second round of slot 1 of a job that carries, after an honest first.
struct CarryingBench {
    Bench bench;
    trainer::SlotState before;  ///< end of the first round
    TrainedRound round;

    CarryingBench() {
        bench.job.spec.inner_state = program::InnerState::kCarried;
        bench.runner = Bench::make(bench.job);
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
        if (unit == 0) input.carried = before;
        return input;
    }
};

}  // namespace

TEST_CASE("every unit of a round that carries replays to a match") {
    CarryingBench carrying;
    for (std::uint32_t unit = 0; unit < program::RoundPlan(carrying.bench.job.spec).units(); ++unit) {
        const auto result = carrying.bench.check(carrying.input(unit));
        INFO("unit " << unit << ": " << result.difference);
        CHECK(result.verdict == UnitVerdict::kMatch);
    }
}

TEST_CASE("a carried state that is not served, or is another, is unavailable") {
    CarryingBench carrying;
    verifier::UnitInput input = carrying.input(0);
    input.carried.reset();
    CHECK(carrying.bench.check(input).verdict == UnitVerdict::kUnavailable);
    input.carried = carrying.before;
    input.carried->second_moment[5] += 1.0F;
    CHECK(carrying.bench.check(input).verdict == UnitVerdict::kUnavailable);
    input.carried = carrying.before;
    *input.carried->age += 1;
    CHECK(carrying.bench.check(input).verdict == UnitVerdict::kUnavailable);
}

TEST_CASE("a round that does not go on with what it says is found in its first segment") {
    CarryingBench carrying;
    verifier::UnitInput input = carrying.input(0);
    input.claimed.carried->in = {};  // it says that it began with nothing
    CHECK(carrying.bench.check(input).verdict == UnitVerdict::kDiffers);
}

TEST_CASE("handing on another state than the round's end is found in finalise and named") {
    CarryingBench carrying;
    const std::uint32_t finalise = program::RoundPlan(carrying.bench.job.spec).finalise();
    verifier::UnitInput input = carrying.input(finalise);
    input.claimed.carried->out = carrying.before.age ? base::hash("assay/test", {}) : base::Hash256();
    const auto result = carrying.bench.check(input);
    CHECK(result.verdict == UnitVerdict::kDiffers);
    CHECK(result.named);
    CHECK(result.difference.find("carried state: claimed root") == 0);
}
