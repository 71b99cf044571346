// SPDX-License-Identifier: Apache-2.0
// Gives plans ScalingLaw, the loss of a model of N parameters after D tokens (Hoffmann et al. 2022):
//
// L(N, D) = E + A/N^α + B/D^β
//
// in nats per token, with the uncertainty of its constants. The constants are a distribution: the prior lies
// around the published ones, and points of a pilot give the posterior. Every prediction is an interval.
// Deterministic: the same points give the same numbers.
//
// It only predicts; no rule and no verdict depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node/plan/interval.hpp"

namespace assay::node {

/// The law's constants. A and B are given as the values of their terms at the centre of the data to which the
/// published constants were fitted (kCentreParameters, kCentreTokens), where they depend least on α and β.
struct LawConstants {
    double floor = 0;           ///< E: the loss that no model can go below, in nats
    double model_term = 0;      ///< A/N^α at kCentreParameters
    double model_exponent = 0;  ///< α
    double data_term = 0;       ///< B/D^β at kCentreTokens
    double data_exponent = 0;   ///< β
    double noise = 0;           ///< standard deviation of ln L of one measurement around the law

    template <class Visit>
    void fields(Visit& visit) const {
        visit("floor", floor);
        visit("model_term", model_term);
        visit("model_exponent", model_exponent);
        visit("data_term", data_term);
        visit("data_exponent", data_exponent);
        visit("noise", noise);
    }
};

inline constexpr double kCentreParameters = 1e9;
inline constexpr double kCentreTokens = 2e10;

/// Hoffmann et al. 2022, approach 3: E = 1.69, A = 406.4, B = 410.7, α = 0.34, β = 0.28.
LawConstants published_constants();

/// A measured loss of plain training. For points of several contributors the caller first removes their
/// penalty (LocalStepPenalty).
struct LawPoint {
    double parameters = 0;  ///< > 0
    double tokens = 0;      ///< trained on, > 0
    double loss = 0;        ///< > 0
};

/// Drift of curves of plain training, and of curves of models merged over rounds, which outer momentum and
/// the first rounds bend. Chosen on the recorded curves (docs/concepts/plan.md says how well they hold).
inline constexpr double kPlainDrift = 0.015;
inline constexpr double kMergedDrift = 0.04;

class ScalingLaw {
public:
    /// The published constants, with the spread that another text, tokenizer and model may have.
    /// `vocabulary`: no prediction is above its logarithm, the loss of a model that knows nothing. Where the
    /// law exceeds that, the loss may be anything below it in the prior.
    static ScalingLaw prior(std::uint32_t vocabulary);
    /// The posterior, given the points. `drift`: standard deviation of ln L by which a curve leaves its
    /// fitted law for each e-fold of tokens beyond the last point. REQUIRES that every number of every point
    /// is positive and finite.
    static ScalingLaw fitted(std::uint32_t vocabulary, std::span<const LawPoint> points,
                             double drift = kPlainDrift);

    /// Interval of one measurement of the loss, including its noise. The uncertainty of the law grows with
    /// the distance from the last point, in ln D.
    [[nodiscard]] Interval80 loss(double parameters, double tokens) const;
    /// The outcomes behind that interval, one for each set of constants, in the same order each time, for
    /// predictions that build on them.
    [[nodiscard]] std::vector<double> losses(double parameters, double tokens) const;
    /// How many points it was fitted to; 0: it is the prior.
    [[nodiscard]] std::size_t points() const { return points_; }
    /// Medians of the constants.
    [[nodiscard]] LawConstants medians() const;

private:
    ScalingLaw(std::uint32_t vocabulary, std::vector<LawConstants> sample)
        : vocabulary_(vocabulary), sample_(std::move(sample)) {}

    std::uint32_t vocabulary_;
    std::vector<LawConstants> sample_;  ///< equally likely
    std::size_t points_ = 0;
    double last_tokens_ = 0;  ///< tokens of the point with the most; 0: no points
    double drift_ = kPlainDrift;
};

}  // namespace assay::node
