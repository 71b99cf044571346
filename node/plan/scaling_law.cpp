// SPDX-License-Identifier: Apache-2.0
#include "node/plan/scaling_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "contracts/base/check.hpp"
#include "node/plan/draws.hpp"
#include "node/plan/small_matrix.hpp"

namespace assay::node {

namespace {

constexpr std::size_t kSample = 2048;
constexpr std::size_t kConstants = 6;
constexpr std::size_t kMoves = 6;  ///< of every set of constants, after each step towards the posterior

/// Logarithms of the constants, in the order of LawConstants.
using Logs = SmallVector<kConstants>;

/// Spread of the logarithms: another text and tokenizer moves what a token costs at all and how much each
/// term weighs by up to a factor of two and more; exponents of published fits differ by a quarter.
constexpr Logs kSpread = {0.3, 0.7, 0.25, 0.7, 0.25, 0.7};

Logs logs_of(const LawConstants& law) {
    return {std::log(law.floor),     std::log(law.model_term),    std::log(law.model_exponent),
            std::log(law.data_term), std::log(law.data_exponent), std::log(law.noise)};
}

LawConstants constants_of(const Logs& logs) {
    return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2]),
            std::exp(logs[3]), std::exp(logs[4]), std::exp(logs[5])};
}

double expected(const LawConstants& law, double parameters, double tokens) {
    return law.floor + law.model_term * std::pow(parameters / kCentreParameters, -law.model_exponent) +
           law.data_term * std::pow(tokens / kCentreTokens, -law.data_exponent);
}

double log_prior(const Logs& logs) {
    static const Logs kCentre = logs_of(published_constants());
    double sum = 0;
    for (std::size_t i = 0; i < kConstants; ++i) {
        const double distance = (logs[i] - kCentre[i]) / kSpread[i];
        sum -= 0.5 * distance * distance;
    }
    return sum;
}

double log_likelihood(const Logs& logs, std::span<const LawPoint> points) {
    const LawConstants law = constants_of(logs);
    double sum = 0;
    for (const LawPoint& point : points) {
        const double distance =
            std::log(point.loss / expected(law, point.parameters, point.tokens)) / law.noise;
        sum -= 0.5 * distance * distance + logs[5];
    }
    return sum;
}

/// One set of constants on its way.
struct Particle {
    Logs logs{};
    double prior = 0;
    double likelihood = 0;
};

/// The sample of the prior, led to the posterior in steps: the points count with a weight that grows from 0
/// to 1, each time as far as half of the sample still counts, whereupon it is drawn again by weight and moved
/// by Metropolis's rule (Del Moral, Doucet and Jasra 2006). It finds narrow and bent posteriors without any
/// tuning.
class Sampling {
public:
    explicit Sampling(std::span<const LawPoint> points) : points_(points), draws_(kSeed) {
        const Logs centre = logs_of(published_constants());
        for (Particle& particle : particles_) {
            for (std::size_t i = 0; i < kConstants; ++i)
                particle.logs[i] = centre[i] + kSpread[i] * draws_.normal();
            particle.prior = log_prior(particle.logs);
            particle.likelihood = log_likelihood(particle.logs, points_);
        }
    }

    std::vector<LawConstants> run() {
        double weight = points_.empty() ? 1.0 : 0.0;
        while (weight < 1.0) {
            const double next = next_weight(weight);
            draw_again(next - weight);
            weight = next;
            const Factor factor = covariance_factor();
            for (std::size_t move = 0; move < kMoves; ++move)
                move_all(weight, factor, kScales[move % kScales.size()]);
        }
        std::vector<LawConstants> sample;
        for (const Particle& particle : particles_) sample.push_back(constants_of(particle.logs));
        return sample;
    }

private:
    using Factor = SmallMatrix<kConstants>;
    static constexpr std::uint64_t kSeed = 20260101;
    /// The best scale of a step for a normal posterior of six dimensions is 2.38/√6; bent ones need less.
    static constexpr std::array<double, 2> kScales = {0.97, 0.4};

    [[nodiscard]] double most_likely() const {
        return std::ranges::max_element(particles_, {}, &Particle::likelihood)->likelihood;
    }

    /// How many of the sample count when the points count so much more.
    [[nodiscard]] double counting(double step) const {
        const double top = most_likely();
        double sum = 0;
        double squares = 0;
        for (const Particle& particle : particles_) {
            const double weight = std::exp(step * (particle.likelihood - top));
            sum += weight;
            squares += weight * weight;
        }
        return sum * sum / squares;
    }

    [[nodiscard]] double next_weight(double weight) const {
        constexpr double kHalf = kSample / 2.0;
        if (counting(1.0 - weight) >= kHalf) return 1.0;
        double low = weight;
        double high = 1.0;
        for (int i = 0; i < 50; ++i) {
            const double middle = (low + high) / 2;
            (counting(middle - weight) >= kHalf ? low : high) = middle;
        }
        // At least a little: it ends whatever the points are.
        return std::min(1.0, std::max(low, weight * 1.01 + 1e-12));
    }

    /// Systematic: one draw for all.
    void draw_again(double step) {
        const double top = most_likely();
        std::vector<double> sums;
        double sum = 0;
        for (const Particle& particle : particles_)
            sums.push_back(sum += std::exp(step * (particle.likelihood - top)));
        const double first = draws_.uniform();
        std::vector<Particle> drawn;
        std::size_t from = 0;
        for (std::size_t i = 0; i < kSample; ++i) {
            const double place = (static_cast<double>(i) + first) / kSample * sum;
            while (from + 1 < kSample && sums[from] < place) ++from;
            drawn.push_back(particles_[from]);
        }
        particles_ = std::move(drawn);
    }

    /// Cholesky's factor of the sample's covariance.
    [[nodiscard]] Factor covariance_factor() const {
        Logs mean{};
        for (const Particle& particle : particles_)
            for (std::size_t i = 0; i < kConstants; ++i) mean[i] += particle.logs[i] / kSample;
        Factor covariance{};
        for (std::size_t i = 0; i < kConstants; ++i)
            for (std::size_t j = 0; j < kConstants; ++j)
                for (const Particle& particle : particles_)
                    covariance[i][j] += (particle.logs[i] - mean[i]) * (particle.logs[j] - mean[j]) / kSample;
        return cholesky(covariance);
    }

    void move_all(double weight, const Factor& factor, double scale) {
        for (Particle& particle : particles_) {
            Logs normal{};
            for (double& number : normal) number = draws_.normal();
            Particle moved = particle;
            for (std::size_t i = 0; i < kConstants; ++i)
                for (std::size_t j = 0; j <= i; ++j) moved.logs[i] += scale * factor[i][j] * normal[j];
            moved.prior = log_prior(moved.logs);
            moved.likelihood = log_likelihood(moved.logs, points_);
            const double gain =
                moved.prior - particle.prior + weight * (moved.likelihood - particle.likelihood);
            if (std::log(1.0 - draws_.uniform()) < gain) particle = moved;
        }
    }

    std::span<const LawPoint> points_;
    Draws draws_;
    std::vector<Particle> particles_{kSample};
};

double median_of(const std::vector<LawConstants>& sample, double LawConstants::*constant) {
    std::vector<double> values;
    for (const LawConstants& law : sample) values.push_back(law.*constant);
    return quantile(std::move(values), 0.5);
}

}  // namespace

LawConstants published_constants() {
    constexpr double kA = 406.4, kB = 410.7, kAlpha = 0.34, kBeta = 0.28;
    return {.floor = 1.69,
            .model_term = kA / std::pow(kCentreParameters, kAlpha),
            .model_exponent = kAlpha,
            .data_term = kB / std::pow(kCentreTokens, kBeta),
            .data_exponent = kBeta,
            .noise = 0.01};
}

ScalingLaw ScalingLaw::prior(std::uint32_t vocabulary) { return fitted(vocabulary, {}); }

ScalingLaw ScalingLaw::fitted(std::uint32_t vocabulary, std::span<const LawPoint> points, double drift) {
    double last = 0;
    for (const LawPoint& point : points) {
        for (const double number : {point.parameters, point.tokens, point.loss})
            ASSAY_CHECK(number > 0 && std::isfinite(number));
        last = std::max(last, point.tokens);
    }
    ScalingLaw law(vocabulary, Sampling(points).run());
    law.points_ = points.size();
    law.last_tokens_ = last;
    law.drift_ = drift;
    return law;
}

std::vector<double> ScalingLaw::losses(double parameters, double tokens) const {
    constexpr std::uint64_t kSeed = 20260102;
    Draws draws(kSeed);
    const double most = std::log(static_cast<double>(vocabulary_));
    const double folds = points_ == 0 ? 0 : std::max(0.0, std::log(tokens / last_tokens_));
    std::vector<double> outcomes;
    for (const LawConstants& law : sample_) {
        const double spread = std::hypot(law.noise, drift_ * folds);
        const double loss = expected(law, parameters, tokens);
        // The law says nothing of models that it takes for worse than ignorance: without a point the loss is
        // anywhere between what no model saves and what none loses.
        const double anywhere = std::lerp(law.floor, most, draws.uniform());
        const bool says_nothing = points_ == 0 && loss > most && law.floor < most;
        outcomes.push_back(
            std::min(most, (says_nothing ? anywhere : loss) * std::exp(spread * draws.normal())));
    }
    return outcomes;
}

Interval80 ScalingLaw::loss(double parameters, double tokens) const {
    return interval_of(losses(parameters, tokens));
}

LawConstants ScalingLaw::medians() const {
    return {.floor = median_of(sample_, &LawConstants::floor),
            .model_term = median_of(sample_, &LawConstants::model_term),
            .model_exponent = median_of(sample_, &LawConstants::model_exponent),
            .data_term = median_of(sample_, &LawConstants::data_term),
            .data_exponent = median_of(sample_, &LawConstants::data_exponent),
            .noise = median_of(sample_, &LawConstants::noise)};
}

}  // namespace assay::node
