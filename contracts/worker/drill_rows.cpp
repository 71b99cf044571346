// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/drill_rows.hpp"

#include <algorithm>
#include <array>

namespace assay::worker {

namespace {

constexpr std::array kRows{
    DrillRow{DrillKind::kLazy, "lazy", DrillNeeds::kNothing},
    DrillRow{DrillKind::kFlip, "flip", DrillNeeds::kTensor},
    DrillRow{DrillKind::kUlp, "ulp", DrillNeeds::kTensor},
    DrillRow{DrillKind::kZero, "zero", DrillNeeds::kNothing},
    DrillRow{DrillKind::kNoise, "noise", DrillNeeds::kNothing},
    DrillRow{DrillKind::kSkip, "skipped-steps", DrillNeeds::kNothing},
    DrillRow{DrillKind::kStale, "stale-base", DrillNeeds::kRoundBefore},
    DrillRow{DrillKind::kShard, "wrong-shard", DrillNeeds::kOtherSlot},
    DrillRow{DrillKind::kReplay, "replayed", DrillNeeds::kRoundBefore},
    DrillRow{DrillKind::kPlace, "laundered-state", DrillNeeds::kNothing},
    DrillRow{DrillKind::kFinalise, "bad-finalise", DrillNeeds::kNothing},
    DrillRow{DrillKind::kOperator, "operator", DrillNeeds::kOperator},
};

}  // namespace

std::span<const DrillRow> drill_rows() { return kRows; }

const DrillRow& row_of(DrillKind kind) {
    return *std::find_if(kRows.begin(), kRows.end(), [&](const DrillRow& row) { return row.kind == kind; });
}

const DrillRow* find_drill(std::string_view name) {
    const auto* const found =
        std::find_if(kRows.begin(), kRows.end(), [&](const DrillRow& row) { return row.name == name; });
    return found == kRows.end() ? nullptr : found;
}

std::string drill_names() {
    std::string names;
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        if (i > 0) names += i + 1 == kRows.size() ? " or " : ", ";
        names += kRows[i].name;
    }
    return names;
}

std::string unplantable(DrillKind kind, std::uint32_t round, std::uint32_t slots) {
    const DrillRow& row = row_of(kind);
    if (row.needs == DrillNeeds::kRoundBefore && round == 0) {
        return std::string(row.name) + " needs a round before it, and round 0 has none";
    }
    if (row.needs == DrillNeeds::kOtherSlot && slots < 2) {
        return std::string(row.name) + " needs another slot, and the job has one";
    }
    return {};
}

}  // namespace assay::worker
