// SPDX-License-Identifier: Apache-2.0
// Rounds of a tiny job with planted faults, and their units recomputed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contracts/program/round_plan.hpp"
#include "node/worker/program/drill.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_job.hpp"
#include "verifier/replay.hpp"

namespace assay::tests {

/// A slot's round with everything that its miner could serve.
struct TrainedRound {
    trainer::BaseState base;
    std::vector<trainer::SlotState> boundaries;  // 0 … segments
    trainer::SlotRoundOutcome work;
};

struct DrillBench {
    TinyJob job = tiny_job();
    std::unique_ptr<trainer::JobRunner> runner = make(job);

    static std::unique_ptr<trainer::JobRunner> make(const TinyJob& job) {
        auto runner = trainer::JobRunner::create(job.spec, {job.tokens}, {job.tokens}, {});
        REQUIRE(runner.ok());
        return std::move(runner).value();
    }

    TrainedRound train(const std::vector<worker::Drill>& drills, std::uint32_t slot = 1) {
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
        if (unit == 0 || unit == program::RoundPlan(job.spec).segments()) input.base = round.base;
        if (unit > 0) {
            input.start = round.boundaries[unit];
            input.start_root = round.work.trace.boundaries[unit];
        }
        return input;
    }

    verifier::UnitResult compute(const verifier::UnitInput& input) {
        auto result = verifier::compute_unit(*runner, input, {});
        REQUIRE(result.ok());
        return std::move(result).value();
    }
    /// Where the round's claim of the unit and what is computed part; empty: nowhere.
    std::string difference(const TrainedRound& round, std::uint32_t unit) {
        const auto result = compute(input(round, unit));
        REQUIRE(result.verdict == verifier::UnitVerdict::kComputed);
        return worker::name_difference(round.work.trace, job.spec, unit, result.parts);
    }
};

}  // namespace assay::tests
