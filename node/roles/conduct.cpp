// SPDX-License-Identifier: Apache-2.0
#include "node/roles/conduct.hpp"

#include <algorithm>
#include <array>

namespace assay::node {

namespace {

constexpr std::array kRows{
    ConductRow{Conduct::kWithheldStart, "withheld-start", WorkRole::kMiner, "serve no start of a drawn run"},
    ConductRow{Conduct::kWithheldUpdate, "withheld-update", WorkRole::kMiner, "give nobody the update"},
    ConductRow{Conduct::kSilentAfterDraw, "silent-after-draw", WorkRole::kMiner,
               "say nothing more once sealed"},
    ConductRow{Conduct::kSquatter, "squatter", WorkRole::kMiner, "hold slots and never commit"},
    ConductRow{Conduct::kRubberStamp, "rubber-stamp", WorkRole::kVerifier,
               "seal roots without computing them"},
    ConductRow{Conduct::kCoinFlip, "coin-flip", WorkRole::kVerifier, "make up every second slot"},
    ConductRow{Conduct::kCopy, "copy", WorkRole::kVerifier, "compute nothing, say what others have posted"},
    ConductRow{Conduct::kBadMerge, "bad-merge", WorkRole::kVerifier,
               "claim a merge that is none of its updates"},
    ConductRow{Conduct::kCensoredMerge, "censored-merge", WorkRole::kVerifier,
               "leave the last update out of the merge"},
    ConductRow{Conduct::kColludingPanel, "colluding-panel", WorkRole::kVerifier,
               "say what the miner of the home --accomplice claims"},
};

}  // namespace

std::span<const ConductRow> conduct_rows() { return kRows; }

std::string_view to_text(Conduct conduct) { return kRows[static_cast<std::size_t>(conduct)].name; }

std::optional<Conduct> find_conduct(WorkRole role, std::string_view name) {
    const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const ConductRow& row) {
        return row.role == role && row.name == name;
    });
    if (found == kRows.end()) return std::nullopt;
    return found->conduct;
}

std::vector<std::string> conduct_names(WorkRole role) {
    std::vector<std::string> names;
    for (const ConductRow& row : kRows) {
        if (row.role == role) names.emplace_back(row.name);
    }
    return names;
}

std::string conduct_help(WorkRole role) {
    std::string help;
    for (const ConductRow& row : kRows) {
        if (row.role != role) continue;
        if (!help.empty()) help += "; ";
        help += std::string(row.name) + ": " + std::string(row.text);
    }
    return help;
}

}  // namespace assay::node
