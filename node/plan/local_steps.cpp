// SPDX-License-Identifier: Apache-2.0
#include "node/plan/local_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "contracts/base/check.hpp"
#include "node/plan/draws.hpp"
#include "node/plan/small_matrix.hpp"

namespace assay::node {

namespace {

constexpr std::size_t kSize = 5;
using Terms = SmallVector<kSize>;
using Square = SmallMatrix<kSize>;

/// What the coefficients are expected to be before any run: 0, give or take this.
constexpr double kPriorSpread = 0.3;

/// ln L by which each e-fold of M or H outside of what was recorded may be off.
constexpr double kSpreadPerFold = 0.03;
constexpr double kUsualSteps = 32;  // in the middle of the recorded ones

Terms terms_of(const RoundShape& shape, const RecordedRange& range) {
    if (shape.slots == 0) return {};
    const double slots = std::log(static_cast<double>(shape.slots));
    const std::uint32_t recorded =
        std::clamp(shape.inner_steps, range.least.inner_steps, range.most.inner_steps);
    const double steps = std::log(static_cast<double>(recorded) / kUsualSteps);
    const double rounds = shape.rounds == 0 ? 0 : slots / static_cast<double>(shape.rounds);
    return {1, slots, steps, slots * steps, rounds};
}

/// e-folds outside of the range.
double folds(std::uint32_t value, std::uint32_t least, std::uint32_t most) {
    const std::uint32_t nearest = std::clamp(value, least, most);
    return std::abs(std::log(static_cast<double>(value) / static_cast<double>(nearest)));
}

RecordedRange range_of(std::span<const LocalStepLoss> losses) {
    RecordedRange range{losses.front().shape, losses.front().shape};
    for (const LocalStepLoss& loss : losses) {
        range.least.slots = std::min(range.least.slots, loss.shape.slots);
        range.least.inner_steps = std::min(range.least.inner_steps, loss.shape.inner_steps);
        range.most.slots = std::max(range.most.slots, loss.shape.slots);
        range.most.inner_steps = std::max(range.most.inner_steps, loss.shape.inner_steps);
    }
    return range;
}

struct Fit {
    Terms mean{};
    Square covariance{};
};

/// Ridge regression: the posterior of the coefficients for this noise. A run is there with several losses of
/// its curve, which stray together: all of them weigh as one.
Fit regression(std::span<const LocalStepLoss> losses, const RecordedRange& range, double noise,
               double weight) {
    Square precision{};
    Terms right{};
    for (std::size_t i = 0; i < kSize; ++i) precision[i][i] = 1 / (kPriorSpread * kPriorSpread);
    for (const LocalStepLoss& loss : losses) {
        const Terms terms = terms_of(loss.shape, range);
        const double ratio = std::log(loss.loss / loss.plain);
        for (std::size_t i = 0; i < kSize; ++i) {
            right[i] += weight * terms[i] * ratio / (noise * noise);
            for (std::size_t j = 0; j < kSize; ++j)
                precision[i][j] += weight * terms[i] * terms[j] / (noise * noise);
        }
    }
    Fit fit{.covariance = inverse_of_factored(cholesky(precision))};
    for (std::size_t i = 0; i < kSize; ++i) fit.mean[i] = dot(fit.covariance[i], right);
    return fit;
}

std::size_t runs_among(std::span<const LocalStepLoss> losses) {
    std::vector<std::array<std::uint32_t, 3>> runs;
    for (const LocalStepLoss& loss : losses)
        runs.push_back({loss.shape.slots, loss.shape.inner_steps, loss.seed});
    std::ranges::sort(runs);
    return runs.size() - std::ranges::unique(runs).size();
}

}  // namespace

RecordedRange recorded_range() { return range_of(recorded_local_steps()); }

LocalStepPenalty::LocalStepPenalty(std::span<const LocalStepLoss> losses) {
    static_assert(kTerms == kSize);
    ASSAY_CHECK(losses.size() > kSize);
    range_ = range_of(losses);
    const double weight = static_cast<double>(runs_among(losses)) / static_cast<double>(losses.size());
    // The noise follows from the fit, and the fit hardly from the noise: a few turns settle both.
    noise_ = 0.05;
    Fit fit;
    for (int turn = 0; turn < 5; ++turn) {
        fit = regression(losses, range_, noise_, weight);
        double squares = 0;
        for (const LocalStepLoss& loss : losses) {
            const double rest =
                std::log(loss.loss / loss.plain) - dot(fit.mean, terms_of(loss.shape, range_));
            squares += rest * rest;
        }
        constexpr double kLeast = 1e-4;
        noise_ = std::max(kLeast, std::sqrt(squares / static_cast<double>(losses.size() - kSize)));
    }
    const Square factor = cholesky(fit.covariance);
    for (std::size_t i = 0; i < kSize; ++i) {
        mean_[i] = fit.mean[i];
        std::ranges::copy(factor[i], factor_[i]);
    }
}

const LocalStepPenalty& LocalStepPenalty::recorded() {
    static const LocalStepPenalty kRecorded{recorded_local_steps()};
    return kRecorded;
}

double LocalStepPenalty::mean(const RoundShape& shape, const RoundShape& from) const {
    if (shape.divides_as(from)) return 0;
    const Terms here = terms_of(shape, range_);
    const Terms there = terms_of(from, range_);
    double sum = 0;
    for (std::size_t i = 0; i < kSize; ++i) sum += mean_[i] * (here[i] - there[i]);
    return sum;
}

double LocalStepPenalty::spread_outside(const RoundShape& shape) const {
    if (shape.slots == 0) return 0;
    return kSpreadPerFold * (folds(shape.slots, range_.least.slots, range_.most.slots) +
                             folds(shape.inner_steps, range_.least.inner_steps, range_.most.inner_steps));
}

std::vector<double> LocalStepPenalty::outcomes(const RoundShape& shape, const RoundShape& from,
                                               std::size_t count) const {
    std::vector<double> found(count, 0.0);
    if (shape.divides_as(from)) return found;
    const Terms here = terms_of(shape, range_);
    const Terms there = terms_of(from, range_);
    const double spread = std::hypot(noise_, spread_outside(shape), spread_outside(from));
    constexpr std::uint64_t kSeed = 20260103;
    Draws draws(kSeed);
    for (double& outcome : found) {
        Terms normal{};
        for (double& number : normal) number = draws.normal();
        for (std::size_t i = 0; i < kSize; ++i) {
            double coefficient = mean_[i];
            for (std::size_t j = 0; j <= i; ++j) coefficient += factor_[i][j] * normal[j];
            outcome += coefficient * (here[i] - there[i]);
        }
        outcome += spread * draws.normal();
    }
    return found;
}

}  // namespace assay::node
