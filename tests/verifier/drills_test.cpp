// SPDX-License-Identifier: Apache-2.0
// Planted faults: each kind does what its name says, and is found where it was planted.
#include <algorithm>
#include <cstddef>

#include "contracts/worker/drill_fault.hpp"
#include "contracts/worker/drill_rows.hpp"
#include "tests/verifier/drilled_bench.hpp"

namespace assay::tests {

using worker::Drill;
using worker::DrillKind;

TEST_CASE("every kind of fault without a tensor is found where it was planted, and not before") {
    DrillBench bench;
    const std::uint32_t finalise = program::RoundPlan(bench.job.spec).finalise();
    for (const worker::DrillRow& row : worker::drill_rows()) {
        if (row.needs == worker::DrillNeeds::kTensor || row.needs == worker::DrillNeeds::kRoundBefore ||
            row.needs == worker::DrillNeeds::kOperator)
            continue;
        INFO(row.name);
        const TrainedRound round = bench.train({Drill{row.kind, 1, "", 0, 0}});
        REQUIRE(program::is_well_formed(round.work.trace, bench.job.spec));
        const std::uint32_t planted = row.kind == DrillKind::kFinalise ? finalise : 1;
        for (std::uint32_t unit = 0; unit < planted; ++unit) CHECK(bench.difference(round, unit).empty());
        CHECK_FALSE(bench.difference(round, planted).empty());
    }
}

TEST_CASE(
    "one ulp in one operator's output is found in its segment, and an operator that is not there refused") {
    DrillBench bench;
    Drill drill{DrillKind::kOperator, 1, "", 320, 0, 1, 17};
    const TrainedRound round = bench.train({drill});
    REQUIRE(program::is_well_formed(round.work.trace, bench.job.spec));
    CHECK(round.work.trace.fingerprints.size() == bench.job.spec.train.inner_steps);
    CHECK(bench.difference(round, 0).empty());
    CHECK_FALSE(bench.difference(round, 1).empty());
    CHECK(worker::misplaced_fault(drill, bench.job.spec).empty());
    drill.step = 2;  // segments have two steps
    CHECK(worker::misplaced_fault(drill, bench.job.spec).find("step 2") != std::string::npos);
    drill.step = 0;
    drill.operator_index = 10'000;
    CHECK(worker::misplaced_fault(drill, bench.job.spec).find("operator 10000") != std::string::npos);
    drill.operator_index = 17;
    drill.index = UINT64_MAX;
    CHECK(worker::misplaced_fault(drill, bench.job.spec).find("element") != std::string::npos);
}

TEST_CASE("zero ends with the base, a skipped segment with its start, a laundered state with true numbers") {
    DrillBench bench;
    const TrainedRound honest = bench.train({});
    const TrainedRound zero = bench.train({Drill{DrillKind::kZero, 2, "", 0, 0}});
    CHECK(zero.boundaries[3].parameters == zero.base.parameters);
    const auto& values = zero.work.update->values;
    CHECK(std::count(values.begin(), values.end(), 0) == static_cast<std::ptrdiff_t>(values.size()));
    const TrainedRound skipped = bench.train({Drill{DrillKind::kSkip, 1, "", 0, 0}});
    CHECK(skipped.boundaries[2].parameters == skipped.boundaries[1].parameters);
    CHECK(skipped.boundaries[2].step == honest.boundaries[2].step);
    const TrainedRound laundered = bench.train({Drill{DrillKind::kPlace, 1, "", 0, 0}});
    CHECK(laundered.boundaries[2].parameters == honest.boundaries[2].parameters);
    CHECK(laundered.boundaries[2].step == honest.boundaries[2].step + 1);
    CHECK(laundered.boundaries[3] == honest.boundaries[3]);
    CHECK(bench.runner->state_root(laundered.boundaries[2]) == laundered.work.trace.boundaries[2]);
}

TEST_CASE("training another slot's shard gives byte for byte what that slot is") {
    DrillBench bench;
    std::vector<Drill> drills;
    for (std::uint32_t segment = 0; segment < program::RoundPlan(bench.job.spec).segments(); ++segment) {
        drills.push_back(Drill{DrillKind::kShard, segment, "", 0, 0});
    }
    const TrainedRound copied = bench.train(drills, 0);
    CHECK(copied.work.trace == bench.train({}, 1).work.trace);
    CHECK(copied.work.trace.update != bench.train({}, 0).work.trace.update);
}

TEST_CASE("a stale base and work of the round before are of round 0, and need it") {
    DrillBench bench;
    const TrainedRound first = bench.train({}, 0);
    trainer::BaseState base = bench.runner->initial();
    base.step = bench.job.spec.train.inner_steps;
    for (float& parameter : base.parameters) parameter += 0.01F;
    const auto train = [&](const std::vector<Drill>& drills) {
        std::vector<trainer::SlotState> ends;
        const auto keep = [&](const trainer::BoundaryReport& boundary) { ends.push_back(boundary.state); };
        auto work = verifier::run_drilled_round(*bench.runner, base, 1, 1, std::nullopt, drills, keep, {},
                                                nullptr, 0);
        REQUIRE(work.ok());
        CHECK(work->trace.boundaries.front() == bench.runner->state_root(bench.runner->start(base).value()));
        return ends;
    };
    const auto honest = train({});
    const auto stale = train({Drill{DrillKind::kStale, 0, "", 0, 0}});
    CHECK(stale[0].parameters != honest[0].parameters);
    trainer::SlotState from_first = bench.runner->start(base).value();
    from_first.parameters = bench.runner->initial().parameters;
    REQUIRE(bench.runner->run_segment(from_first, {1, 1, 0}, {}).ok());
    CHECK(stale[0] == from_first);
    const auto replayed =
        train({Drill{DrillKind::kReplay, 0, "", 0, 0}, Drill{DrillKind::kReplay, 1, "", 0, 0}});
    CHECK(replayed[0].parameters == first.boundaries[1].parameters);
    CHECK(replayed[1].second_moment == first.boundaries[2].second_moment);
    CHECK(replayed[1].cursor == honest[1].cursor);
}

}  // namespace assay::tests
