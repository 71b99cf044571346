// SPDX-License-Identifier: Apache-2.0
// How well predictions hold on recorded runs: the law is fitted to the beginning of each curve and has to
// predict the rest. The test counts by itself; what it finds stands in docs/concepts/plan.md.
#include <cmath>

#include "node/plan/loss_forecast.hpp"
#include "tests/node/plan/recorded.hpp"

using namespace assay;
using namespace assay::node;

namespace {

struct Curve {
    std::uint32_t vocabulary = 0;
    std::vector<PilotPoint> points;  ///< ascending
};

/// The parity runs: docs/parity.json.
std::vector<Curve> parity_curves() {
    std::vector<Curve> curves;
    const auto file = test::recorded_json("parity.json");
    for (const auto& run : file.at("runs")) {
        Curve curve{.vocabulary = 8192, .points = {}};
        const double step_tokens = run.at("batch").get<double>() * run.at("context").get<double>();
        for (const auto& point : run.at("held_out")) {
            if (point.at(0) == 0) continue;
            curve.points.push_back({.parameters = run.at("parameters").get<double>(),
                                    .tokens = point.at(0).get<double>() * step_tokens,
                                    .loss = point.at(1).get<double>(),
                                    .shape = {}});
        }
        curves.push_back(std::move(curve));
    }
    return curves;
}

/// Those of another model and tokenizer, most of them of merged rounds: docs/local_steps.json.
std::vector<Curve> local_step_curves() {
    const auto file = test::recorded_json("local_steps.json");
    std::vector<Curve> curves;
    for (const auto& run : file.at("runs")) {
        Curve curve{.vocabulary = 1024, .points = {}};
        for (const auto& point : run.at("held_out"))
            curve.points.push_back(
                {.parameters = 169'728,
                 .tokens = point.at(0).get<double>() * file.at("step_tokens").get<double>(),
                 .loss = point.at(1).get<double>(),
                 .shape = {run.at("slots").get<std::uint32_t>(), run.at("inner_steps").get<std::uint32_t>(),
                           0}});
        curves.push_back(std::move(curve));
    }
    return curves;
}

struct Coverage {
    int held = 0;
    int outcomes = 0;
    int ends_held = 0;
    int ends = 0;
    double width = 0;  ///< mean, of ln L at the end of a run

    [[nodiscard]] double share() const { return static_cast<double>(held) / outcomes; }
};

/// Fitted to the first `share` of each curve.
Coverage coverage_of(const std::vector<Curve>& curves, double share) {
    Coverage found;
    for (const Curve& curve : curves) {
        const auto seen =
            static_cast<std::size_t>(std::lround(share * static_cast<double>(curve.points.size())));
        if (seen < 2 || seen >= curve.points.size()) continue;
        const LossForecast forecast(curve.vocabulary, std::span(curve.points).first(seen));
        for (std::size_t i = seen; i < curve.points.size(); ++i) {
            const PilotPoint& point = curve.points[i];
            const Interval80 loss = forecast.loss(point.parameters, point.tokens, point.shape);
            const bool holds = loss.holds(point.loss);
            found.held += holds ? 1 : 0;
            ++found.outcomes;
            if (i + 1 < curve.points.size()) continue;
            found.ends_held += holds ? 1 : 0;
            ++found.ends;
            found.width += std::log(loss.high / loss.low);
        }
    }
    found.width /= found.ends;
    return found;
}

}  // namespace

TEST_CASE("80 % intervals hold at least 70 % of the outcomes of the recorded parity runs") {
    const auto curves = parity_curves();
    REQUIRE(curves.size() == 16);
    // With fewer points the interval may be wider, and must still say something: it is an eighth of the loss
    // at most, and a sixteenth once half of the run is there.
    for (const auto& [share, widest] : {std::pair{0.3, 0.12}, {0.4, 0.08}, {0.5, 0.06}, {0.7, 0.04}}) {
        const Coverage found = coverage_of(curves, share);
        WARN("parity, first " << share << ": " << found.held << " of " << found.outcomes
                              << " held, at the end " << found.ends_held << " of " << found.ends
                              << ", mean width of ln L " << found.width);
        CHECK(found.outcomes >= 48);
        CHECK(found.share() >= 0.7);
        CHECK(found.ends_held >= 0.7 * found.ends);
        CHECK(found.width < widest);
    }
}

TEST_CASE("and as many on the curves of merged rounds, by which their drift was chosen") {
    const auto curves = local_step_curves();
    REQUIRE(curves.size() == 26);
    for (const double share : {0.4, 0.5}) {
        const Coverage found = coverage_of(curves, share);
        WARN("local steps, first " << share << ": " << found.held << " of " << found.outcomes
                                   << " held, at the end " << found.ends_held << " of " << found.ends
                                   << ", mean width of ln L " << found.width);
        CHECK(found.share() >= 0.7);
        CHECK(found.ends_held >= 0.6 * found.ends);
        CHECK(found.width < 0.15);
    }
}
