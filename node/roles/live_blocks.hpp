// SPDX-License-Identifier: Apache-2.0
// Gives following roles the law of live blocks (docs/decisions/0066): a block that is received as it is made
// lies near this machine's clock. Whoever orders blocks writes their times, and could make as many of them at
// once as he likes through somebody's window if nobody looked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::node {

/// How far a live block's time may be from the wall clock, and how long a parent keeps its child live.
inline constexpr std::uint64_t kLiveWithinMs = 30'000;
/// A refused block is asked for at least so often: the clock may be put right meanwhile.
inline constexpr std::uint64_t kAskAgainMs = 5'000;

/// What both clocks of the machine show (node/seams/clock.hpp).
struct RoleTime {
    std::uint64_t mono_ms = 0;
    std::uint64_t wall_ms = 0;
};

/// Why a block is not followed yet.
struct NotYet {
    std::string why;              ///< names both times
    std::uint64_t ask_in_ms = 0;  ///< to be asked for again then, at least 1
};

/// A block is ahead when its time is more than kLiveWithinMs above the wall clock: it is followed when the
/// clock has come so near, however it was received. It is behind when its time is as far below the clock, and
/// that matters only where it must be live: its parent was, within kLiveWithinMs by both clocks. Then it is
/// followed once that is over. A role that starts, a laptop that woke and a chain that was paused have no
/// such parent.
class LiveBlocks {
public:
    /// Nothing: the block may be followed.
    [[nodiscard]] std::optional<NotYet> judge(std::uint64_t height, std::uint64_t time_ms,
                                              const RoleTime& now) const;
    /// The block was followed. REQUIRES that judge() let it.
    void followed(std::uint64_t time_ms, const RoleTime& now);

private:
    std::optional<RoleTime> live_;  ///< when the last block came, if it came live
};

}  // namespace assay::node
