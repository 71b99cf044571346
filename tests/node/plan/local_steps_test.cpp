// SPDX-License-Identifier: Apache-2.0
// The penalty of contributors and local steps: that it is the recorded runs', and what it makes of them.
#include "node/plan/local_steps.hpp"

#include <cmath>
#include <map>

#include "node/plan/draws.hpp"
#include "node/plan/interval.hpp"
#include "node/plan/loss_forecast.hpp"
#include "tests/node/plan/recorded.hpp"

using namespace assay;
using namespace assay::node;

namespace {

/// Of a penalty of 0.05 + 0.02·ln M − 0.03·ln(H/32) on ln L.
std::vector<LocalStepLoss> known_losses(double noise) {
    Draws draws(3);
    std::vector<LocalStepLoss> losses;
    for (const std::uint32_t slots : {1U, 2U, 4U, 8U})
        for (const std::uint32_t steps : {8U, 32U, 128U})
            for (const std::uint32_t seed : {1U, 2U}) {
                const double penalty = 0.05 + 0.02 * std::log(slots) - 0.03 * std::log(steps / 32.0);
                losses.push_back({{slots, steps, 2048 / (slots * steps)},
                                  seed,
                                  2048,
                                  4.0 * std::exp(penalty + noise * draws.normal()),
                                  4.0});
            }
    return losses;
}

}  // namespace

TEST_CASE("the embedded losses are those of docs/local_steps.json") {
    const auto file = test::recorded_json("local_steps.json");
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> plain;
    std::map<std::vector<std::uint32_t>, double> slots;
    for (const auto& run : file.at("runs"))
        for (const auto& point : run.at("held_out")) {
            const auto seed = run.at("seed").get<std::uint32_t>();
            const auto step = point.at(0).get<std::uint32_t>();
            if (run.at("slots") == 0)
                plain[{seed, step}] = point.at(1);
            else
                slots[{run.at("slots"), run.at("inner_steps"), seed, step}] = point.at(1);
        }
    const auto embedded = recorded_local_steps();
    // Eight slots of 128 steps have their first merge at a half.
    REQUIRE(embedded.size() == 92);
    for (const LocalStepLoss& loss : embedded) {
        INFO(loss.shape.slots << " " << loss.shape.inner_steps << " " << loss.seed << " " << loss.steps);
        CHECK(loss.loss == slots.at({loss.shape.slots, loss.shape.inner_steps, loss.seed, loss.steps}));
        CHECK(loss.plain == plain.at({loss.seed, loss.steps}));
        CHECK(loss.shape.rounds * loss.shape.slots * loss.shape.inner_steps == loss.steps);
    }
}

TEST_CASE("a known penalty is found again, and its interval holds it") {
    const LocalStepPenalty penalty(known_losses(0.005));
    CHECK(penalty.noise() == Approx(0.005).epsilon(0.5));
    CHECK(penalty.mean({1, 32}) == Approx(0.05).margin(0.01));
    CHECK(penalty.mean({8, 32}) == Approx(0.05 + 0.02 * std::log(8)).margin(0.01));
    CHECK(penalty.mean({1, 128}) == Approx(0.05 - 0.03 * std::log(4)).margin(0.01));
    const Interval80 interval = interval_of(penalty.outcomes({8, 128}, {}, 2000));
    CHECK(interval.holds(0.05 + 0.02 * std::log(8) - 0.03 * std::log(4)));
    CHECK(interval.high - interval.low < 0.05);
    // Beyond what was recorded it is less certain.
    const Interval80 beyond = interval_of(penalty.outcomes({200, 4000}, {}, 2000));
    CHECK(beyond.high - beyond.low > 2 * (interval.high - interval.low));
    // Longer rounds than any that was recorded are not better than plain training for it.
    CHECK(penalty.mean({1, 4000}) == penalty.mean({1, 128}));
}

TEST_CASE("a pilot of the job's own shape needs no penalty, another one does") {
    const LocalStepPenalty& penalty = LocalStepPenalty::recorded();
    for (const double outcome : penalty.outcomes({4, 32, 100}, {4, 32, 7}, 10)) CHECK(outcome == 0);
    CHECK(penalty.mean({4, 32}, {4, 32}) == 0);
    CHECK(penalty.mean({4, 32}, {1, 32}) == Approx(penalty.mean({4, 32}) - penalty.mean({1, 32})));

    std::vector<PilotPoint> points;
    for (double tokens = 1e5; tokens < 2e6; tokens *= 1.5)
        points.push_back({1e6, tokens, 2 + 30 * std::pow(tokens, -0.25), {1, 32, 10}});
    const LossForecast forecast(1024, points);
    CHECK_FALSE(forecast.is_prior_only());
    const Interval80 same = forecast.loss(1e6, 4e6, {1, 32});
    const Interval80 other = forecast.loss(1e6, 4e6, {8, 32});
    CHECK(other.median == Approx(same.median * std::exp(penalty.mean({8, 32}, {1, 32}))).epsilon(0.01));
    CHECK(other.high / other.low > same.high / same.low);
    CHECK(LossForecast(1024, {}).is_prior_only());
}

TEST_CASE("the recorded penalty is within its own interval on most of its runs") {
    const LocalStepPenalty& penalty = LocalStepPenalty::recorded();
    int held = 0;
    for (const LocalStepLoss& loss : recorded_local_steps())
        held += interval_of(penalty.outcomes(loss.shape, {}, 1000)).holds(std::log(loss.loss / loss.plain));
    WARN(held << " of " << recorded_local_steps().size() << " losses are within; noise " << penalty.noise());
    CHECK(held >= 0.7 * static_cast<double>(recorded_local_steps().size()));
}
