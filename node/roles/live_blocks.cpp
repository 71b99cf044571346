// SPDX-License-Identifier: Apache-2.0
#include "node/roles/live_blocks.hpp"

#include <algorithm>

namespace assay::node {

namespace {

std::uint64_t above(std::uint64_t one, std::uint64_t other) { return one > other ? one - other : 0; }

/// Tenths are enough for a person who looks at a clock.
std::string seconds(std::uint64_t ms) {
    return std::to_string(ms / 1'000) + "." + std::to_string(ms % 1'000 / 100) + " s";
}

NotYet not_yet(std::uint64_t height, std::uint64_t time_ms, const RoleTime& now, std::uint64_t left_ms) {
    const bool ahead = time_ms > now.wall_ms;
    const std::uint64_t apart = ahead ? time_ms - now.wall_ms : now.wall_ms - time_ms;
    return {"block " + std::to_string(height) + " is not followed yet: its time, " + std::to_string(time_ms) +
                " ms, is " + seconds(apart) + (ahead ? " ahead of" : " behind") + " this machine's clock, " +
                std::to_string(now.wall_ms) + " ms; a block that was just made is within " +
                seconds(kLiveWithinMs) + ", so one of the two clocks is wrong",
            std::clamp<std::uint64_t>(left_ms, 1, kAskAgainMs)};
}

}  // namespace

std::optional<NotYet> LiveBlocks::judge(std::uint64_t height, std::uint64_t time_ms,
                                        const RoleTime& now) const {
    const std::uint64_t ahead = above(time_ms, now.wall_ms);
    if (ahead > kLiveWithinMs) return not_yet(height, time_ms, now, ahead - kLiveWithinMs);
    if (!live_ || above(now.wall_ms, time_ms) <= kLiveWithinMs) return std::nullopt;
    const std::uint64_t since = std::max(now.mono_ms - live_->mono_ms, above(now.wall_ms, live_->wall_ms));
    if (since >= kLiveWithinMs) return std::nullopt;
    return not_yet(height, time_ms, now, kLiveWithinMs - since);
}

void LiveBlocks::followed(std::uint64_t time_ms, const RoleTime& now) {
    const bool near = above(now.wall_ms, time_ms) <= kLiveWithinMs;
    live_ = near ? std::optional(now) : std::nullopt;
}

}  // namespace assay::node
