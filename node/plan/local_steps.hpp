// SPDX-License-Identifier: Apache-2.0
// Gives plans LocalStepPenalty, the cost in loss when M contributors train H local steps each before they
// merge, compared with one machine that trains without rounds. It is fitted to curves that were recorded for
// it (docs/local_steps.json). The ln of the ratio of both losses, at the same number of tokens, is
//
// p(M, H, R) = c0 + c1·ln M + c2·ln(H/32) + c3·ln M·ln(H/32) + c4·ln(M)/R
//
// after R rounds, with the uncertainty of the c and the noise of a single run. Outside the recorded H the
// penalty of the nearest recorded H is taken; outside the recorded M the formula is extrapolated. Both have a
// spread that grows with the distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::node {

/// How a job's rounds divide the work. `slots` = 0: plain training, without rounds.
struct RoundShape {
    std::uint32_t slots = 0;
    std::uint32_t inner_steps = 0;
    std::uint32_t rounds = 0;  ///< merged rounds

    /// Whether the other shape divides the work in the same way. A pilot and a job that do have the same
    /// penalty, whatever it is.
    [[nodiscard]] bool divides_as(const RoundShape& other) const {
        return slots == other.slots && inner_steps == other.inner_steps;
    }
};

/// A recorded loss, and the loss of plain training with the same model, text, seed and number of tokens.
struct LocalStepLoss {
    RoundShape shape;
    std::uint32_t seed = 0;
    std::uint32_t steps = 0;  ///< over all slots
    double loss = 0;
    double plain = 0;
};

/// All recorded losses. A test compares them with docs/local_steps.json.
std::span<const LocalStepLoss> recorded_local_steps();
/// The range of M and H among them.
struct RecordedRange {
    RoundShape least, most;
};
RecordedRange recorded_range();

class LocalStepPenalty {
public:
    /// REQUIRES at least six losses of shapes with slots.
    explicit LocalStepPenalty(std::span<const LocalStepLoss> losses);
    /// The penalty fitted to recorded_local_steps().
    static const LocalStepPenalty& recorded();

    /// ln of the loss of `shape` over that of `from`: the most likely value. 0 when both divide the work
    /// alike.
    [[nodiscard]] double mean(const RoundShape& shape, const RoundShape& from = {}) const;
    /// `count` outcomes of it, the same ones at every call. All are 0 when the shapes divide the work alike,
    /// so a plan with a pilot of the job's own shape does not depend on this penalty.
    [[nodiscard]] std::vector<double> outcomes(const RoundShape& shape, const RoundShape& from,
                                               std::size_t count) const;
    /// Standard deviation of one run's ln ratio around the fit.
    [[nodiscard]] double noise() const { return noise_; }

private:
    [[nodiscard]] double spread_outside(const RoundShape& shape) const;

    static constexpr std::size_t kTerms = 5;
    double mean_[kTerms] = {};
    double factor_[kTerms][kTerms] = {};  ///< Cholesky's lower factor of the coefficients' covariance
    double noise_ = 0;
    RecordedRange range_;
};

}  // namespace assay::node
