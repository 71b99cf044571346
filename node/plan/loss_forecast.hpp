// SPDX-License-Identifier: Apache-2.0
// Gives plans LossForecast, the loss that a job will reach: the scaling law times the penalty of its
// contributors and local steps, with 80 % intervals.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node/plan/local_steps.hpp"
#include "node/plan/scaling_law.hpp"

namespace assay::node {

/// A measured loss of a pilot with this shape.
struct PilotPoint {
    double parameters = 0;
    double tokens = 0;
    double loss = 0;
    RoundShape shape;
};

class LossForecast {
public:
    /// `points`: of pilots; empty for the prior alone. Points of another shape than the last one's are
    /// converted to its shape. REQUIRES positive finite numbers.
    LossForecast(std::uint32_t vocabulary, std::span<const PilotPoint> points);

    /// The loss of a job of this shape, whose model has `parameters` and which trained on `tokens`.
    [[nodiscard]] Interval80 loss(double parameters, double tokens, const RoundShape& shape) const;

    [[nodiscard]] const ScalingLaw& law() const { return law_; }
    /// The shape of the points; plain training without points.
    [[nodiscard]] const RoundShape& measured_shape() const { return measured_; }
    /// Whether there is no point, so that the forecast comes from other people's models and texts.
    [[nodiscard]] bool is_prior_only() const { return law_.points() == 0; }

private:
    RoundShape measured_;
    ScalingLaw law_;
    double most_;  ///< ln of the vocabulary
};

}  // namespace assay::node
