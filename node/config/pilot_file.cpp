// SPDX-License-Identifier: Apache-2.0
#include "node/config/pilot_file.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "contracts/program/limits.hpp"
#include "contracts/program/tensors.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

// Text of our own making that a person may have cut: members are looked at one by one, and what is no number
// there is no loss.
std::optional<double> number_at(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) return std::nullopt;
    const double number = found->get<double>();
    return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<std::uint32_t> count_at(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
    const auto count = found->get<std::uint64_t>();
    return count <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(count)) : std::nullopt;
}

std::string schema_of(const json& value) {
    if (!value.is_object()) return {};
    const auto found = value.find("schema");
    return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const json& list_at(const json& object, const char* key) {
    static const json kNothing = json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : kNothing;
}

class PilotReader {
public:
    explicit PilotReader(const program::JobSpec& spec) : spec_(spec) {}

    /// False: no output that holds losses.
    bool take(const json& value) {
        const std::string schema = schema_of(value);
        if (schema == "assay.model.train/v1") {
            trained(value);
        } else if (schema == "assay.job.show/v1") {
            for (const json& round : list_at(value, "merged_rounds"))
                merged(round, count_at(round, "slots").value_or(0));
        } else if (schema == "assay.job.watch/v1") {
            const auto event = value.find("event");
            if (event != value.end() && *event == "merged") merged(value, spec_.slots);
        } else {
            return false;
        }
        return true;
    }

    std::vector<PilotPoint> take_points() { return std::move(points_); }

private:
    void add(double step, const PilotPoint& point) {
        if (step < spec_.train.warmup_steps || point.loss <= 0 || point.tokens <= 0 || point.parameters <= 0)
            return;
        points_.push_back(point);
    }

    void trained(const json& value) {
        const auto parameters = number_at(value, "parameters");
        const auto slots = count_at(value, "slots");
        const auto inner_steps = count_at(value, "inner_steps");
        const auto tokens = number_at(value, "tokens");
        const json& losses = list_at(value, "loss");
        if (!parameters || !slots || !inner_steps || *inner_steps == 0 || !tokens || losses.empty()) return;
        const double last = number_at(losses.back(), "step").value_or(0);
        for (const json& row : losses) {
            const auto step = number_at(row, "step");
            const auto loss = number_at(row, "held_out");
            if (!step || !loss || *step <= 0 || *step > last) continue;
            const auto rounds = static_cast<std::uint32_t>(*step / *inner_steps);
            add(*step, {.parameters = *parameters,
                        .tokens = *tokens * *step / last,
                        .loss = *loss,
                        .shape = {*slots, *inner_steps, rounds}});
        }
    }

    void merged(const json& round, std::uint32_t slots) {
        const auto number = count_at(round, "round");
        const auto loss = number_at(round, "held_out_loss");
        if (!number || *number >= program::kMaxRounds || !loss || slots > program::kMaxSlots) return;
        ++merged_;
        slots_ += slots;
        const double step_tokens = static_cast<double>(spec_.train.batch) * spec_.model.context;
        add(static_cast<double>(merged_) * spec_.train.inner_steps,
            {.parameters = static_cast<double>(program::parameter_count(spec_.model)),
             .tokens = static_cast<double>(slots_) * spec_.train.inner_steps * step_tokens,
             .loss = *loss,
             .shape = {spec_.slots, spec_.train.inner_steps, merged_}});
    }

    const program::JobSpec& spec_;
    std::vector<PilotPoint> points_;
    std::uint32_t merged_ = 0;
    std::uint64_t slots_ = 0;
};

base::Outcome<void> take_lines(PilotReader& reader, std::string_view text, const std::string& name) {
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (row.empty()) continue;
        const std::string where = name + ":" + std::to_string(line);
        ASSAY_ASSIGN(const json value, trainer::parse_json(row, where));
        if (!reader.take(value)) {
            return fail(ErrorKind::kUsage, where + " is not what a command prints that knows losses",
                        "give what assay model train, job show or job watch print with -o json");
        }
    }
    return {};
}

}  // namespace

base::Outcome<std::vector<PilotPoint>> parse_pilot(std::string_view text, const std::string& name,
                                                   const program::JobSpec& spec) {
    PilotReader reader(spec);
    const auto whole = trainer::parse_json(text, name);
    if (!whole.ok() || !reader.take(*whole)) ASSAY_TRY(take_lines(reader, text, name));
    std::vector<PilotPoint> points = reader.take_points();
    if (points.empty()) {
        return fail(
            ErrorKind::kUsage, name + " has no held-out loss after the job's warm-up",
            "train a pilot for longer than train.warmup_steps, and keep what assay model train -o json "
            "prints");
    }
    return points;
}

base::Outcome<std::vector<PilotPoint>> read_pilot(const std::filesystem::path& path,
                                                  const program::JobSpec& spec) {
    ASSAY_ASSIGN(const base::Bytes bytes, trainer::read_file(path, kMostBytes));
    return parse_pilot(base::as_text(bytes), path.string(), spec);
}

}  // namespace assay::node
