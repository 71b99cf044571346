// SPDX-License-Identifier: Apache-2.0
// Gives following roles the law of live blocks (docs/decisions/0066): the time of a block that is received as
// it is made lies near this machine's clock. The sequencer writes the blocks' times. Without this check it
// could make many blocks at once, and so end another party's window early.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::node {

/// How far a live block's time may be from the wall clock, and for how long the child of a live block must be
/// live too.
inline constexpr std::uint64_t kLiveWithinMs = 30'000;
/// A block that is put off is asked for again at least this often: the clock may be corrected meanwhile.
inline constexpr std::uint64_t kAskAgainMs = 5'000;

/// What both clocks of the machine show (node/seams/clock.hpp).
struct RoleTime {
    std::uint64_t mono_ms = 0;
    std::uint64_t wall_ms = 0;
};

/// Why a block is not followed yet.
struct NotYet {
    std::string why;              ///< names both times
    std::uint64_t ask_in_ms = 0;  ///< ask for it again after this; at least 1
};

/// A block is ahead when its time is more than kLiveWithinMs above the wall clock. It is followed once the
/// clock has come that near. A block is behind when its time is more than kLiveWithinMs below the clock. That
/// matters only if it must be live: its parent was received live less than kLiveWithinMs ago by both clocks.
/// The block is followed when that time is over. After a start, after sleep of the machine and after a pause
/// of the chain there is no such parent.
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
