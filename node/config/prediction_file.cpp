// SPDX-License-Identifier: Apache-2.0
#include "node/config/prediction_file.hpp"

#include <cmath>

#include "contracts/program/limits.hpp"
#include "node/views/json.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"

namespace assay::node {
namespace {

using nlohmann::json;
using trainer::ObjectReader;

constexpr const char* kPredictionSchema = "assay.prediction/v1";
constexpr std::uint64_t kMostPredictionBytes = std::uint64_t{1} << 20;

double number_from(ObjectReader& reader, const char* key) {
    const json& value = reader.value(key);
    if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
    reader.refuse("\"" + std::string(key) + "\" is not a number");
    return 0;
}

base::Outcome<Interval80> interval_from(const json& value, const std::string& where) {
    ObjectReader reader(value, where);
    Interval80 interval;
    interval.low = number_from(reader, "low");
    interval.median = number_from(reader, "median");
    interval.high = number_from(reader, "high");
    ASSAY_TRY(reader.finish());
    return interval;
}

base::Outcome<RoundPrediction> round_from(const json& value, const std::string& where) {
    ObjectReader reader(value, where);
    RoundPrediction round;
    round.rounds = static_cast<std::uint32_t>(reader.number("rounds", 1, program::kMaxRounds));
    round.tokens = number_from(reader, "tokens");
    const json& spend = reader.value("spend");
    const json& heights = reader.value("heights");
    const json& loss = reader.value("loss");
    ASSAY_TRY(reader.finish());
    ASSAY_ASSIGN(round.spend, interval_from(spend, where + ", spend"));
    if (!heights.is_null()) {
        ASSAY_ASSIGN(round.heights, interval_from(heights, where + ", heights"));
    }
    ASSAY_ASSIGN(round.loss, interval_from(loss, where + ", loss"));
    return round;
}

}  // namespace

base::Outcome<void> write_prediction(const std::filesystem::path& path, const JobPrediction& prediction) {
    std::error_code error;
    if (std::filesystem::create_directories(path.parent_path(), error))
        std::filesystem::permissions(path.parent_path(), std::filesystem::perms::owner_all, error);
    const std::string text = json_text(kPredictionSchema, json_of(prediction), JsonLayout::kIndented) + "\n";
    return trainer::write_file(path, base::as_bytes(text));
}

base::Outcome<std::optional<JobPrediction>> read_prediction(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return std::optional<JobPrediction>();
    ASSAY_ASSIGN(const base::Bytes bytes, trainer::read_file(path, kMostPredictionBytes));
    ASSAY_ASSIGN(const json value, trainer::parse_json(base::as_text(bytes), path.string()));
    ObjectReader reader(value, path.string());
    if (reader.text("schema") != kPredictionSchema)
        reader.refuse("its schema is not " + std::string(kPredictionSchema));
    JobPrediction prediction;
    const json& prior_only = reader.value("prior_only");
    if (!prior_only.is_boolean()) reader.refuse("\"prior_only\" is neither true nor false");
    prediction.pilot_points = reader.number("pilot_points", 0, UINT32_MAX);
    prediction.ledger_prices = reader.number("ledger_prices", 0, UINT32_MAX);
    prediction.speeds = reader.number("speeds", 0, UINT32_MAX);
    const json& rounds = reader.value("rounds");
    if (!rounds.is_array()) reader.refuse("\"rounds\" is not a list");
    ASSAY_TRY(reader.finish());
    prediction.prior_only = prior_only.get<bool>();
    for (const json& round : rounds) {
        ASSAY_ASSIGN(RoundPrediction read, round_from(round, path.string()));
        prediction.rounds.push_back(read);
    }
    return std::optional(std::move(prediction));
}

}  // namespace assay::node
