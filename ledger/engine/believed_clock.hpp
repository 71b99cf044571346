// SPDX-License-Identifier: Apache-2.0
// BelievedClock gives an engine the wall clock with a judgement. A header's time is final, and nothing
// follows a header before its time has come: one wrong reading ten years ahead, signed and synced, would stop
// the chain for ten years. What was measured by the monotonic clock since the last reading that was believed
// shows a jump.
#pragma once

#include <cstdint>

#include "ledger/engine/clock.hpp"

namespace assay::ledger {

/// What a wall clock may gain on the monotonic clock between two looks. As much as a header may be ahead.
inline constexpr std::uint64_t kClockGainMs = 15'000;
/// A jump is believed once the clock has kept it for as long as the jump is, and for this at most. A chain
/// that believed a wrong one would stand still for as long as the jump, so that no longer wait could pay.
inline constexpr std::uint64_t kJumpKeptMs = 600'000;
/// A larger jump is not believed at all, and an engine does not open so long after the last header without
/// its operator's word. A node may have been off for months, hardly for longer than this; a clock that a
/// machine lost or was told wrong is mostly off by decades.
inline constexpr std::uint64_t kFarClockMs = 366ULL * 24 * 3'600'000;

class BelievedClock {
public:
    /// Believes the first reading. `clock` must outlive this.
    explicit BelievedClock(EngineClock& clock);

    struct Look {
        std::uint64_t wall_ms = 0;
        std::uint64_t jump_ms = 0;  ///< ahead of what was expected; 0: the reading is believed
        std::uint64_t left_ms = 0;  ///< until the jump is believed if the clock keeps it
        /// The jump is too large ever to be believed; left_ms means nothing.
        [[nodiscard]] bool is_far() const { return jump_ms > kFarClockMs; }
    };

    /// Reads both clocks. `tip_ms`: the time of the last header, which is never in doubt. A clock that has
    /// gone back, or shows a time before it, is believed: it makes no header late.
    Look look(std::uint64_t tip_ms);

private:
    struct Reading {
        std::uint64_t monotonic_ms = 0;
        std::uint64_t wall_ms = 0;
        /// What the wall clock would show at `monotonic` if it had not jumped since.
        [[nodiscard]] std::uint64_t at(std::uint64_t monotonic) const;
    };

    EngineClock& clock_;
    Reading believed_;
    Reading jumped_;  ///< the first reading after the jump that is waited for
    bool doubts_ = false;
};

}  // namespace assay::ledger
