// SPDX-License-Identifier: Apache-2.0
#include "node/cli/block_time.hpp"

#include <cstdio>

namespace assay::node {

namespace {

constexpr double kHourSeconds = 3600;

std::string duration_text(double seconds) {
    struct TimeUnit {
        double seconds;
        const char* name;
    };
    constexpr TimeUnit kTimeUnits[] = {
        {86400, "days"}, {kHourSeconds, "hours"}, {60, "minutes"}, {1, "seconds"}};
    const TimeUnit* unit = &kTimeUnits[3];
    for (const TimeUnit& one : kTimeUnits) {
        if (seconds < 2 * one.seconds) continue;
        unit = &one;
        break;
    }
    const double count = seconds / unit->seconds;
    char text[48];
    std::snprintf(text, sizeof text, count < 10 ? "%.1f %s" : "%.0f %s", count, unit->name);
    return text;
}

}  // namespace

std::uint64_t blocks_to(std::uint64_t height, std::uint64_t block) {
    return block > height ? block - height : 0;
}

std::optional<double> hours_of(std::uint64_t blocks, const std::optional<double>& pace_ms) {
    if (!pace_ms) return std::nullopt;
    return *pace_ms * static_cast<double>(blocks) / 1000 / kHourSeconds;
}

std::string blocks_text(std::uint64_t blocks, const std::optional<double>& pace_ms) {
    std::string text = std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
    if (const auto hours = hours_of(blocks, pace_ms))
        text += ", about " + duration_text(*hours * kHourSeconds) + " at the pace of the last blocks";
    return text;
}

}  // namespace assay::node
