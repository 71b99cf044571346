// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/plan_forecast.hpp"

#include <charconv>
#include <cmath>
#include <ostream>

#include "node/cli/commands/plan_text.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/table.hpp"
#include "node/config/pilot_file.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

std::string coin_range_text(const Interval80& units) {
    return coins_text(units.low) + " to " + coins_text(units.high) + ", median " + coins_text(units.median);
}

std::string time_text(double seconds) {
    if (seconds < 120) return formatted(seconds, "%.3g s");
    if (seconds < 7200) return formatted(seconds / 60, "%.3g min");
    if (seconds < 172'800) return formatted(seconds / 3600, "%.3g h");
    return formatted(seconds / 86'400, "%.3g days");
}

std::string heights_text(const Interval80& heights, double height_seconds) {
    return formatted(heights.low, "%.0f") + " to " + formatted(heights.high, "%.0f") + " blocks (" +
           time_text(heights.low * height_seconds) + " to " + time_text(heights.high * height_seconds) + ")";
}

std::string loss_range_text(const Interval80& loss) {
    return formatted(loss.low, "%.3f") + " to " + formatted(loss.high, "%.3f") + ", median " +
           formatted(loss.median, "%.3f");
}

std::string bytes_text(std::uint64_t bytes) {
    const double mib = static_cast<double>(bytes) / (1024.0 * 1024.0);
    return mib < 1024 ? formatted(mib, "%.1f MiB") : formatted(mib / 1024, "%.1f GiB");
}

std::string count_text(std::uint64_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string planned_memory_text(const std::vector<DeviceMemory>& memory) {
    std::string text;
    for (const DeviceMemory& each : memory) {
        if (!text.empty()) text += "; ";
        text += (each.device == "cuda-host" ? "a card" : "a processor") + std::string(" takes ") +
                bytes_text(each.least) + " at least, " + bytes_text(each.most) +
                " at full speed: classes of memory from " + std::to_string(each.memory_class) + " up fit";
    }
    return text.empty() ? "not planned here for so many layers: --measure asks a worker" : text;
}

std::string classes_text(const std::vector<SpeedClass>& classes, double height_seconds) {
    std::string text;
    for (const SpeedClass& each : classes) {
        if (!text.empty()) text += "; ";
        text += "speed class " + std::to_string(each.bits) + " (" + count_text(each.machines, "machine") +
                "): " + time_text(each.heights.median * height_seconds) + ", " +
                (each.in_deadline ? "within the deadline" : "too slow for the deadline");
    }
    return text;
}

std::string cost_text(const ShownForecast& shown, const RoundPrediction& whole) {
    if (shown.prediction.ledger_prices == 0) {
        return coin_range_text(whole.spend) +
               " at the job's cap: " + "no clearing price is known (a ledger's with --node)";
    }
    return coin_range_text(whole.spend) + "; a work unit " + coin_range_text(shown.unit_price) + ", from " +
           count_text(shown.prediction.ledger_prices, "clearing price");
}

std::string expected_time_text(const ShownForecast& shown, const RoundPrediction& whole) {
    if (!whole.heights)
        return "no speed is known: name a ledger node with --node, or measure this machine with --measure";
    return heights_text(*whole.heights, shown.height_seconds) + ", from " +
           (shown.speeds_from == SpeedsFrom::kLedger
                ? count_text(shown.prediction.speeds, "verified speed")
                : std::string("machines like this one, since no speed is verified"));
}

std::string expected_loss_text(const ShownForecast& shown, const RoundPrediction& whole) {
    if (shown.prediction.prior_only) {
        return loss_range_text(whole.loss) +
               "; PRIOR ONLY: constants of other models and texts, no pilot of this job (--pilot)";
    }
    return loss_range_text(whole.loss) + ", fitted to " +
           count_text(shown.prediction.pilot_points, "pilot point") +
           formatted(shown.law.floor, "; no model of this kind falls below about %.2f");
}

std::string penalty_text(const program::JobSpec& spec, const ShownForecast& shown) {
    const RecordedRange range = recorded_range();
    std::string text = formatted((std::exp(shown.penalty) - 1) * 100, "%+.1f %% loss for ") +
                       count_text(spec.slots, "slot") + " of " + count_text(spec.train.inner_steps, "step") +
                       (shown.prediction.prior_only ? ", against plain training" : ", against the pilot's");
    if (shown.penalty_is_extrapolated) {
        text += "; recorded with " + std::to_string(range.least.slots) + " to " +
                std::to_string(range.most.slots) + " slots of " + std::to_string(range.least.inner_steps) +
                " to " + std::to_string(range.most.inner_steps) + " steps alone";
    }
    return text;
}

bool outside(const program::JobSpec& spec) {
    const RecordedRange range = recorded_range();
    return spec.slots < range.least.slots || spec.slots > range.most.slots ||
           spec.train.inner_steps < range.least.inner_steps ||
           spec.train.inner_steps > range.most.inner_steps;
}

template <class Number>
Outcome<std::optional<double>> positive_flag(const char* flag, const std::string& text) {
    if (text.empty()) return std::optional<double>();
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto number = static_cast<double>(value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number <= 0)
        return fail(ErrorKind::kUsage, std::string(flag) + " " + text + " is not a number above 0",
                    std::string("give a number, as in ") + flag + " 4");
    return std::optional(number);
}

}  // namespace

Outcome<std::vector<PilotPoint>> read_pilots(const std::vector<std::string>& files,
                                             const program::JobSpec& spec) {
    std::vector<PilotPoint> points;
    for (const std::string& file : files) {
        ASSAY_ASSIGN(const auto read, read_pilot(file, spec));
        points.insert(points.end(), read.begin(), read.end());
    }
    return points;
}

Outcome<PlanGoals> goals_of(const ForecastFlags& flags) {
    PlanGoals goals;
    ASSAY_ASSIGN(goals.target_loss, positive_flag<double>("--target-loss", flags.target_loss));
    ASSAY_ASSIGN(goals.deadline, positive_flag<std::uint64_t>("--deadline", flags.deadline));
    if (!flags.budget.empty()) {
        ASSAY_ASSIGN(const base::Amount budget, amount_flag("--budget", flags.budget));
        goals.budget = static_cast<double>(budget.units());
    }
    return goals;
}

ShownForecast shown_forecast(const program::JobSpec& spec, const JobForecaster& forecaster,
                             std::uint64_t slot_work, double height_seconds) {
    const RoundShape shape{spec.slots, spec.train.inner_steps, spec.rounds};
    return {
        .total_work = slot_work * spec.slots * spec.rounds,
        .memory = step_memory(spec),
        .prediction = forecaster.prediction(),
        .unit_price = forecaster.unit_price(),
        .speeds_from = forecaster.speeds_from(),
        .speed_classes = forecaster.speed_classes(),
        .height_seconds = height_seconds,
        .penalty = LocalStepPenalty::recorded().mean(shape, forecaster.losses().measured_shape()),
        .penalty_is_extrapolated = !shape.divides_as(forecaster.losses().measured_shape()) && outside(spec),
        .law = forecaster.losses().law().medians(),
        .options = std::nullopt};
}

void add_forecast(JsonFields& body, const ShownForecast& shown) {
    body("total_work", shown.total_work);
    body("operations", static_cast<double>(shown.total_work) * 1e9);
    body("memory", shown.memory);
    body("unit_price", shown.unit_price);
    body("prediction", shown.prediction);
    body("speeds_from", shown.speeds_from);
    body("speed_classes", shown.speed_classes);
    body("height_seconds", shown.height_seconds);
    body("local_step_penalty", shown.penalty);
    body("penalty_is_extrapolated", shown.penalty_is_extrapolated);
    body("law", shown.law);
    body("options", shown.options);
}

std::vector<std::pair<std::string, std::string>> forecast_fields(const program::JobSpec& spec,
                                                                 const ShownForecast& shown) {
    const RoundPrediction& whole = shown.prediction.rounds.back();
    std::vector<std::pair<std::string, std::string>> fields = {
        {"operations", formatted(static_cast<double>(shown.total_work) * 1e9, "%.3g") + " in " +
                           std::to_string(shown.total_work) + " work units of training"},
        {"memory of a worker", planned_memory_text(shown.memory)},
        {"expected cost", cost_text(shown, whole)},
        {"expected time", expected_time_text(shown, whole)},
    };
    if (!shown.speed_classes.empty())
        fields.emplace_back("classes", classes_text(shown.speed_classes, shown.height_seconds));
    fields.emplace_back("expected loss", expected_loss_text(shown, whole));
    fields.emplace_back("local steps", penalty_text(spec, shown));
    return fields;
}

void print_options(std::ostream& out, const std::vector<PlanOption>& options, double height_seconds) {
    TextTable table({{""},
                     {"slots", Align::kRight},
                     {"rounds", Align::kRight},
                     {"tokens", Align::kRight},
                     {"cost", Align::kRight},
                     {"at most", Align::kRight},
                     {"time", Align::kRight},
                     {"loss", Align::kRight},
                     {"80 %"},
                     {"why"}});
    for (const PlanOption& option : options) {
        if (option.rounds == 0) {
            table.row({"", std::to_string(option.slots), "-", "-", "-", "-", "-", "-", "-", option.reason});
            continue;
        }
        table.row({option.chosen ? "*" : "", std::to_string(option.slots), std::to_string(option.rounds),
                   formatted(option.tokens, "%.3g"), coins_text(option.price.median),
                   coins_text(option.price.high),
                   option.heights ? time_text(option.heights->median * height_seconds) : "-",
                   formatted(option.loss.median, "%.3f"),
                   formatted(option.loss.low, "%.3f") + " to " + formatted(option.loss.high, "%.3f"),
                   option.reason});
    }
    table.print(out);
}

}  // namespace assay::node
