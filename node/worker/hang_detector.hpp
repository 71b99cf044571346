// SPDX-License-Identifier: Apache-2.0
// Gives self-tests HangDetector, which tells a process that hangs from one that gets little time on a busy
// machine.
#pragma once

#include <chrono>

namespace assay::node {

/// A process hangs when it has used `most` of processor time, all its threads together, or when it used none
/// for `idle` on end. As long as it gets some processor time, it may run long by the clock: next to a miner
/// that computes on every core, a check of low priority takes many times its own time. The caller needs its
/// own limit for a process that wakes now and then.
class HangDetector {
public:
    using Duration = std::chrono::nanoseconds;
    struct HangLimits {
        Duration most;
        Duration idle;
    };

    /// `interval`: time between two calls of hangs().
    HangDetector(HangLimits limits, Duration interval) : limits_(limits), interval_(interval) {}

    /// Call it once in each interval. `used`: processor time since the process began.
    [[nodiscard]] bool hangs(Duration used) {
        idle_ = used > used_ ? Duration::zero() : idle_ + interval_;
        used_ = used;
        return used_ >= limits_.most || idle_ >= limits_.idle;
    }

private:
    HangLimits limits_;
    Duration interval_;
    Duration used_{0}, idle_{0};
};

}  // namespace assay::node
