// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/believed_clock.hpp"

#include <algorithm>
#include <limits>

namespace assay::ledger {

namespace {
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}
}  // namespace

BelievedClock::BelievedClock(EngineClock& clock) : clock_(clock) {
    believed_.monotonic_ms = clock.monotonic_ms();
    believed_.wall_ms = clock.wall_ms();
}

std::uint64_t BelievedClock::Reading::at(std::uint64_t monotonic) const {
    return sum(wall_ms, monotonic - monotonic_ms);
}

BelievedClock::Look BelievedClock::look(std::uint64_t tip_ms) {
    Reading now;
    now.monotonic_ms = clock_.monotonic_ms();
    now.wall_ms = clock_.wall_ms();
    const std::uint64_t expected = std::max(believed_.at(now.monotonic_ms), tip_ms);
    Look look{.wall_ms = now.wall_ms};
    if (now.wall_ms > sum(expected, kClockGainMs)) {
        look.jump_ms = now.wall_ms - expected;
        const std::uint64_t kept = jumped_.at(now.monotonic_ms);
        const std::uint64_t off = std::max(kept, now.wall_ms) - std::min(kept, now.wall_ms);
        if (!doubts_ || off > kClockGainMs) jumped_ = now;
        const std::uint64_t needed = std::min(look.jump_ms, kJumpKeptMs);
        const std::uint64_t waited = now.monotonic_ms - jumped_.monotonic_ms;
        look.left_ms = needed - std::min(needed, waited);
        doubts_ = look.is_far() || look.left_ms > 0;
        if (doubts_) return look;
        look.jump_ms = 0;
    }
    doubts_ = false;
    believed_ = now;
    return look;
}

}  // namespace assay::ledger
