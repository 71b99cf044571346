// SPDX-License-Identifier: Apache-2.0
// What came of a job's prediction: for `job show`.
#include <cmath>

#include "node/cli/commands/plan_forecast.hpp"
#include "node/cli/commands/plan_text.hpp"
#include "node/config/prediction_file.hpp"
#include "node/views/job_view.hpp"

namespace assay::node {

using base::Outcome;

namespace {

std::string percent_off(double off) {
    return formatted(std::abs(off) * 100, off < 0 ? "%.1f %% below the median" : "%.1f %% above the median");
}

std::string compared_text(const ForetoldNumber& compared, const std::string& actual, const std::string& low,
                          const std::string& high) {
    return actual + ", foretold " + low + " to " + high + ": " + (compared.within ? "within" : "OUTSIDE") +
           ", " + percent_off(compared.off);
}

}  // namespace

std::filesystem::path prediction_path(const Home& home, const base::Hash256& job) {
    return home.plans() / (job.hex() + ".json");
}

Outcome<std::optional<PredictionOutcome>> prediction_outcome(const Home& home,
                                                             const contracts::StateView& state,
                                                             const contracts::Job& job) {
    ASSAY_ASSIGN(const auto prediction, read_prediction(prediction_path(home, job.id)));
    if (!prediction) return std::optional<PredictionOutcome>();
    const RoundPrediction* foretold = prediction->up_to(job.rounds_done);
    if (foretold == nullptr) return std::optional<PredictionOutcome>();
    const JobView view = job_view(state, job);
    if (view.merged_rounds.size() < foretold->rounds) return std::optional<PredictionOutcome>();
    const MergedRound& last = view.merged_rounds[foretold->rounds - 1];
    PredictionOutcome outcome{.rounds = foretold->rounds,
                              .ended = job.phase == contracts::JobPhase::kEnded,
                              .prior_only = prediction->prior_only,
                              .spend = compare(foretold->spend, static_cast<double>(job.spent.units())),
                              .heights = std::nullopt,
                              .loss = compare(foretold->loss, static_cast<double>(last.held_out_loss))};
    const auto round = contracts::read_round_progress(state, job.id, last.round);
    if (round && foretold->heights)
        outcome.heights =
            compare(*foretold->heights, static_cast<double>(round->settled_at - job.submitted_at));
    return std::optional(outcome);
}

std::vector<std::pair<std::string, std::string>> outcome_fields(const PredictionOutcome& outcome) {
    const std::string after = outcome.ended ? "" : " so far";
    std::vector<std::pair<std::string, std::string>> fields = {
        {"cost foretold",
         compared_text(outcome.spend, coins_text(outcome.spend.actual) + after,
                       coins_text(outcome.spend.predicted.low), coins_text(outcome.spend.predicted.high))}};
    if (outcome.heights) {
        const ForetoldNumber& heights = *outcome.heights;
        fields.emplace_back("time foretold", compared_text(heights, formatted(heights.actual, "%.0f blocks"),
                                                           formatted(heights.predicted.low, "%.0f"),
                                                           formatted(heights.predicted.high, "%.0f")));
    }
    if (outcome.loss) {
        const ForetoldNumber& loss = *outcome.loss;
        fields.emplace_back("loss foretold", compared_text(loss, formatted(loss.actual, "%.3f"),
                                                           formatted(loss.predicted.low, "%.3f"),
                                                           formatted(loss.predicted.high, "%.3f")) +
                                                 (outcome.prior_only ? " (prior only)" : ""));
    }
    return fields;
}

}  // namespace assay::node
