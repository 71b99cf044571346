// SPDX-License-Identifier: Apache-2.0
// Gives roles time, timers and randomness as arguments: a role core never asks the machine for them.
#pragma once

#include <cstdint>
#include <span>

namespace assay::node {

/// Two clocks that must not be confused. The monotonic one measures. The wall clock is shown to people. It
/// decides only two things: whether a block may be one that was just made (node/roles/live_blocks.hpp), and
/// in which hours a miner takes on work (node/roles/working_hours.hpp). The rules count heights.
class Clock {
public:
    virtual ~Clock() = default;
    /// Nanoseconds since an arbitrary moment; never goes back.
    [[nodiscard]] virtual std::uint64_t mono_ns() const = 0;
    /// Milliseconds since 1970-01-01 UTC, as far as this machine knows.
    [[nodiscard]] virtual std::int64_t wall_ms() const = 0;
    /// The same in local time: milliseconds since 1970-01-01 00:00 on a clock that shows local time.
    [[nodiscard]] virtual std::int64_t local_ms() const { return wall_ms(); }
};

/// Unpredictable bytes (seeds, salts, jitter). Never for anything that others must recompute.
class Random {
public:
    virtual ~Random() = default;
    virtual void fill(std::span<std::uint8_t> out) = 0;
};

/// Names a timer that was asked for; never reused by one Timers. 0 is no timer.
using TimerId = std::uint64_t;

/// One-shot timers. When one fires, the core gets TimerFired{id} (event.hpp) through step().
class Timers {
public:
    virtual ~Timers() = default;
    /// Fires once, when Clock::mono_ns() reaches `mono_ns`; at once if it already has.
    virtual TimerId at(std::uint64_t mono_ns) = 0;
    /// After this returns the timer does not fire; unknown and fired ids are ignored.
    virtual void cancel(TimerId id) = 0;
};

}  // namespace assay::node
