// SPDX-License-Identifier: Apache-2.0
#include "node/plan/loss_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace assay::node {

namespace {

std::vector<LawPoint> in_one_shape(std::span<const PilotPoint> points, const RoundShape& shape) {
    std::vector<LawPoint> found;
    for (const PilotPoint& point : points) {
        const double penalty = LocalStepPenalty::recorded().mean(point.shape, shape);
        found.push_back({point.parameters, point.tokens, point.loss * std::exp(-penalty)});
    }
    return found;
}

}  // namespace

LossForecast::LossForecast(std::uint32_t vocabulary, std::span<const PilotPoint> points)
    : measured_(points.empty() ? RoundShape{} : points.back().shape),
      law_(ScalingLaw::fitted(vocabulary, in_one_shape(points, measured_),
                              measured_.slots == 0 ? kPlainDrift : kMergedDrift)),
      most_(std::log(static_cast<double>(vocabulary))) {}

Interval80 LossForecast::loss(double parameters, double tokens, const RoundShape& shape) const {
    std::vector<double> outcomes = law_.losses(parameters, tokens);
    const auto penalties = LocalStepPenalty::recorded().outcomes(shape, measured_, outcomes.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i)
        outcomes[i] = std::min(most_, outcomes[i] * std::exp(penalties[i]));
    return interval_of(std::move(outcomes));
}

}  // namespace assay::node
