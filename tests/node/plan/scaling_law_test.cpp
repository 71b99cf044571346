// SPDX-License-Identifier: Apache-2.0
// The scaling law: what it says before any pilot, and what it makes of points whose law is known.
#include "node/plan/scaling_law.hpp"

#include <cmath>

#include "node/plan/draws.hpp"
#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::node;

namespace {

constexpr std::uint32_t kVocabulary = 32'000;

double loss_by(const LawConstants& law, double parameters, double tokens) {
    return law.floor + law.model_term * std::pow(parameters / kCentreParameters, -law.model_exponent) +
           law.data_term * std::pow(tokens / kCentreTokens, -law.data_exponent);
}

/// A law within the prior, far enough from its centre to be told from it.
LawConstants another_law() {
    LawConstants law = published_constants();
    law.floor = 1.4;
    law.model_term *= 1.6;
    law.data_term *= 0.6;
    law.data_exponent = 0.34;
    return law;
}

/// Three models, six curves' points each, with normal noise of the standard deviation `noise` on ln L.
std::vector<LawPoint> points_of(const LawConstants& law, double noise, std::uint64_t seed = 5) {
    Draws draws(seed);
    std::vector<LawPoint> points;
    for (const double parameters : {2e7, 1e8, 5e8})
        for (double tokens = 1e8; tokens < 5e9; tokens *= 2)
            points.push_back(
                {parameters, tokens, loss_by(law, parameters, tokens) * std::exp(noise * draws.normal())});
    return points;
}

}  // namespace

TEST_CASE("the prior's interval holds the model that the published law was made for") {
    const Interval80 loss = ScalingLaw::prior(kVocabulary).loss(70e9, 1.4e12);
    CHECK(loss.holds(1.94));
    CHECK(loss.low > 1.0);
    CHECK(loss.high < 4.0);
    // What nobody can do worse than.
    const Interval80 ignorant = ScalingLaw::prior(kVocabulary).loss(1e5, 1e3);
    CHECK(ignorant.high <= std::log(32'000.0));
    // The law is far above that there: it knows no loss, and says so by its width.
    CHECK(ignorant.high - ignorant.low > 4);
    CHECK(ScalingLaw::prior(8192).loss(5.3e6, 1e6).holds(4.23));
}

TEST_CASE("points of a known law bring its predictions back, far narrower than the prior's") {
    const LawConstants truth = another_law();
    const auto points = points_of(truth, 0.005);
    const ScalingLaw law = ScalingLaw::fitted(kVocabulary, points);
    CHECK(law.points() == points.size());
    CHECK(law.medians().noise == Approx(0.005).epsilon(0.5));
    for (const auto& [parameters, tokens] : {std::pair{5e8, 2e10}, std::pair{1e9, 1e10}}) {
        const double expected = loss_by(truth, parameters, tokens);
        const Interval80 fitted = law.loss(parameters, tokens);
        INFO(fitted.low << " " << fitted.median << " " << fitted.high << " truth " << expected);
        CHECK(fitted.holds(expected));
        CHECK(fitted.median == Approx(expected).epsilon(0.02));
        const Interval80 before = ScalingLaw::prior(kVocabulary).loss(parameters, tokens);
        CHECK(fitted.high - fitted.low < (before.high - before.low) / 4);
    }
}

TEST_CASE("eighty of a hundred: intervals of known laws are neither too narrow nor too wide") {
    // Laws from the prior itself, a pilot of six points of one model, and one outcome beyond them.
    Draws draws(11);
    int held = 0;
    constexpr int kTrials = 60;
    for (int trial = 0; trial < kTrials; ++trial) {
        LawConstants law = published_constants();
        law.floor *= std::exp(0.3 * draws.normal());
        law.model_term *= std::exp(0.7 * draws.normal());
        law.model_exponent *= std::exp(0.25 * draws.normal());
        law.data_term *= std::exp(0.7 * draws.normal());
        law.data_exponent *= std::exp(0.25 * draws.normal());
        law.noise *= std::exp(0.7 * draws.normal());
        std::vector<LawPoint> points;
        for (double tokens = 2e8; tokens < 2e9; tokens *= 1.5)
            points.push_back({1e8, tokens, loss_by(law, 1e8, tokens) * std::exp(law.noise * draws.normal())});
        const double later = 4e9;
        const double folds = std::log(later / points.back().tokens);
        const double outcome =
            loss_by(law, 1e8, later) * std::exp(std::hypot(law.noise, kPlainDrift * folds) * draws.normal());
        held += ScalingLaw::fitted(4'000'000, points).loss(1e8, later).holds(outcome) ? 1 : 0;
    }
    // Of 60 draws at 80 % fewer than 40 or all 60 have a chance below one in a thousand.
    INFO(held << " of " << kTrials);
    CHECK(held >= 40);
    CHECK(held < kTrials);
}

TEST_CASE("more tokens mean less loss, and the interval widens away from the points") {
    const ScalingLaw law = ScalingLaw::fitted(kVocabulary, points_of(another_law(), 0.005));
    double last_median = 1e9;
    double last_width = 0;
    for (double tokens = 5e9; tokens < 1e13; tokens *= 4) {
        const Interval80 loss = law.loss(5e8, tokens);
        CHECK(loss.low <= loss.median);
        CHECK(loss.median <= loss.high);
        CHECK(loss.median < last_median);
        const double width = std::log(loss.high / loss.low);
        CHECK(width > last_width);
        last_median = loss.median;
        last_width = width;
    }
    // A model of another size than any pilot's is less certain than one of theirs.
    const ScalingLaw one_size = ScalingLaw::fitted(
        kVocabulary, std::vector<LawPoint>{{1e8, 1e9, 3.4}, {1e8, 2e9, 3.2}, {1e8, 4e9, 3.05}});
    const auto width = [&](double parameters) {
        const Interval80 loss = one_size.loss(parameters, 4e9);
        return loss.high - loss.low;
    };
    CHECK(width(1e9) > 2 * width(1e8));
}

TEST_CASE("the same points give the same numbers") {
    const auto points = points_of(another_law(), 0.01);
    const Interval80 a = ScalingLaw::fitted(kVocabulary, points).loss(1e9, 1e10);
    const Interval80 b = ScalingLaw::fitted(kVocabulary, points).loss(1e9, 1e10);
    CHECK(a.low == b.low);
    CHECK(a.high == b.high);
    // One wild point among many does not break the fit.
    auto wild = points;
    wild[3].loss *= 2;
    const Interval80 c = ScalingLaw::fitted(kVocabulary, wild).loss(1e9, 1e10);
    CHECK(std::isfinite(c.low));
    CHECK(c.high - c.low > a.high - a.low);
}
