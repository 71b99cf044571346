// SPDX-License-Identifier: Apache-2.0
// Gives `assay plan`, `job submit` and `job show` the forecast of a job, made from a ledger and pilots, and
// its output.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/audit/job_forecast.hpp"
#include "node/audit/step_memory.hpp"
#include "node/cli/context.hpp"
#include "node/plan/prediction.hpp"
#include "node/views/json.hpp"

namespace assay::node {

struct ForecastFlags {
    std::vector<std::string> pilots;  ///< files
    std::string target_loss;          ///< empty: none
    std::string budget;
    std::string deadline;

    [[nodiscard]] bool asks_for_options() const {
        return !target_loss.empty() || !budget.empty() || !deadline.empty();
    }
};

/// Reads all files, one after the other. Errors: those of read_pilot.
base::Outcome<std::vector<PilotPoint>> read_pilots(const std::vector<std::string>& files,
                                                   const program::JobSpec& spec);
/// kUsage for a value that is no loss, amount of money or number of blocks.
base::Outcome<PlanGoals> goals_of(const ForecastFlags& flags);

/// What `plan` prints in addition to the plan itself.
struct ShownForecast {
    std::uint64_t total_work = 0;  ///< work units of training in the whole job
    std::vector<DeviceMemory> memory;
    JobPrediction prediction;
    Interval80 unit_price;
    SpeedsFrom speeds_from = SpeedsFrom::kNobody;
    std::vector<SpeedClass> speed_classes;
    double height_seconds = 0.1;
    double penalty = 0;  ///< of the job's contributors and local steps, compared with the pilot's or with
                         ///< plain training
    bool penalty_is_extrapolated = false;
    LawConstants law;
    std::optional<std::vector<PlanOption>> options;
};

ShownForecast shown_forecast(const program::JobSpec& spec, const JobForecaster& forecaster,
                             std::uint64_t slot_work, double height_seconds);

/// Adds the members of `plan`'s JSON.
void add_forecast(JsonFields& body, const ShownForecast& shown);
/// Rows of its table.
std::vector<std::pair<std::string, std::string>> forecast_fields(const program::JobSpec& spec,
                                                                 const ShownForecast& shown);
/// The table of options, each with its reason.
void print_options(std::ostream& out, const std::vector<PlanOption>& options, double height_seconds);

/// The file of a job's prediction.
std::filesystem::path prediction_path(const Home& home, const base::Hash256& job);

/// A prediction compared with the actual results.
struct PredictionOutcome {
    std::uint32_t rounds = 0;  ///< merged rounds that are compared
    bool ended = false;        ///< false: the job goes on, and payments come later than its rounds
    bool prior_only = true;
    ForetoldNumber spend;
    std::optional<ForetoldNumber> heights;
    std::optional<ForetoldNumber> loss;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("rounds", rounds);
        visit("ended", ended);
        visit("prior_only", prior_only);
        visit("spend", spend);
        visit("heights", heights);
        visit("loss", loss);
    }
};

/// Nothing when the home has no prediction of the job, or no predicted round of it is merged.
base::Outcome<std::optional<PredictionOutcome>> prediction_outcome(const Home& home,
                                                                   const contracts::StateView& state,
                                                                   const contracts::Job& job);
std::vector<std::pair<std::string, std::string>> outcome_fields(const PredictionOutcome& outcome);

}  // namespace assay::node
