// SPDX-License-Identifier: Apache-2.0
#include "node/roles/drill_spec.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "contracts/program/round_plan.hpp"
#include "contracts/program/tensors.hpp"
#include "contracts/worker/drill_fault.hpp"
#include "contracts/worker/drill_rows.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using worker::DrillKind;

namespace {

constexpr const char* kExample = "example: --sabotage \"miner=2,round=3,tensor=wte.weight,index=5,bit=7\"";

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
    return value;
}

base::Outcome<void> set_field(DrillSpec& spec, const std::string& key, const std::string& value) {
    worker::Drill& drill = spec.planned.drill;
    if (key == "tensor") {
        // The canonical name; the prefix that model files put before it is accepted too.
        drill.tensor = value.starts_with("transformer.") ? value.substr(12) : value;
        return {};
    }
    if (key == "kind") {
        const worker::DrillRow* row = worker::find_drill(value);
        if (row == nullptr) {
            return fail(ErrorKind::kUsage, "sabotage kind \"" + value + "\" is not " + worker::drill_names(),
                        kExample);
        }
        drill.kind = row->kind;
        return {};
    }
    const auto parsed = number(value, key == "index" ? UINT64_MAX : key == "bit" ? 31 : UINT32_MAX);
    if (!parsed) {
        return fail(ErrorKind::kUsage, "sabotage " + key + "=" + value + " is not a number in range",
                    kExample);
    }
    if (key == "miner")
        spec.miner = static_cast<std::uint32_t>(*parsed);
    else if (key == "round")
        spec.planned.round = static_cast<std::uint32_t>(*parsed);
    else if (key == "segment")
        drill.segment = static_cast<std::uint32_t>(*parsed);
    else if (key == "index")
        drill.index = *parsed;
    else if (key == "step")
        drill.step = static_cast<std::uint32_t>(*parsed);
    else if (key == "operator")
        drill.operator_index = static_cast<std::uint32_t>(*parsed);
    else if (key == "bit")
        drill.bit = static_cast<std::uint8_t>(*parsed);
    else
        return fail(ErrorKind::kUsage, "sabotage has no key \"" + key + "\"", kExample);
    return {};
}

}  // namespace

base::Outcome<DrillSpec> parse_drill(std::string_view text) {
    DrillSpec spec;
    std::set<std::string> seen;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos) {
            return fail(ErrorKind::kUsage, "sabotage part \"" + std::string(part) + "\" is not key=value",
                        kExample);
        }
        const std::string key(part.substr(0, equals));
        if (!seen.insert(key).second) {
            return fail(ErrorKind::kUsage, "sabotage names " + key + " twice", kExample);
        }
        ASSAY_TRY(set_field(spec, key, std::string(part.substr(equals + 1))));
    }
    if (seen.empty()) return fail(ErrorKind::kUsage, "sabotage is empty", kExample);
    const worker::DrillNeeds needs = worker::row_of(spec.planned.drill.kind).needs;
    if (needs == worker::DrillNeeds::kTensor && spec.planned.drill.tensor.empty()) {
        return fail(ErrorKind::kUsage, "sabotage names no tensor", kExample);
    }
    if (needs == worker::DrillNeeds::kRoundBefore && spec.planned.round.value_or(0) == 0) {
        return fail(ErrorKind::kUsage, "sabotage names no round after the first, which its kind needs",
                    "example: --sabotage \"miner=2,round=1,kind=stale-base\"");
    }
    return spec;
}

std::string drill_kinds() { return worker::drill_names(); }

std::string to_text(const PlannedDrill& planned) {
    const auto& drill = planned.drill;
    std::string text = planned.round ? "round=" + std::to_string(*planned.round) + "," : "";
    text += "segment=" + std::to_string(drill.segment);
    const worker::DrillRow& row = worker::row_of(drill.kind);
    text += ",kind=" + std::string(row.name);
    if (row.needs == worker::DrillNeeds::kOperator) {
        return text + ",step=" + std::to_string(drill.step) +
               ",operator=" + std::to_string(drill.operator_index) + ",index=" + std::to_string(drill.index);
    }
    if (row.needs != worker::DrillNeeds::kTensor) return text;
    text += ",tensor=" + drill.tensor + ",index=" + std::to_string(drill.index);
    if (drill.kind == DrillKind::kFlip) text += ",bit=" + std::to_string(int{drill.bit});
    return text;
}

base::Outcome<void> check_drill(const PlannedDrill& planned, const program::JobSpec& spec) {
    if (planned.round && *planned.round >= spec.rounds) {
        return fail(ErrorKind::kUsage, "sabotage names round " + std::to_string(*planned.round) +
                                           ", the job has rounds 0 to " + std::to_string(spec.rounds - 1));
    }
    if (const program::RoundPlan plan(spec); planned.drill.segment >= plan.segments()) {
        return fail(ErrorKind::kUsage, "sabotage names segment " + std::to_string(planned.drill.segment) +
                                           ", a round has segments 0 to " +
                                           std::to_string(plan.segments() - 1));
    }
    const std::string fault =
        worker::unplantable(planned.drill.kind, planned.round.value_or(spec.rounds - 1), spec.slots);
    if (!fault.empty()) return fail(ErrorKind::kUsage, "sabotage " + fault);
    if (planned.drill.kind == DrillKind::kOperator) {
        const std::string misplaced = worker::misplaced_fault(planned.drill, spec);
        if (!misplaced.empty()) return fail(ErrorKind::kUsage, "sabotage: " + misplaced);
    }
    if (worker::row_of(planned.drill.kind).needs != worker::DrillNeeds::kTensor) return {};
    const auto tensors = program::parameter_tensors(spec.model);
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const program::TensorInfo& tensor) {
        return tensor.name == planned.drill.tensor;
    });
    if (found == tensors.end()) {
        return fail(ErrorKind::kUsage, "the model has no tensor \"" + planned.drill.tensor + "\"",
                    "its first is " + tensors.front().name + ", its last " + tensors.back().name +
                        "; `assay model program JOB.toml` lists all");
    }
    if (planned.drill.index >= found->rows * found->cols) {
        return fail(ErrorKind::kUsage, found->name + " has elements 0 to " +
                                           std::to_string(found->rows * found->cols - 1) + ", not " +
                                           std::to_string(planned.drill.index));
    }
    return {};
}

}  // namespace assay::node
