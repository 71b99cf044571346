// SPDX-License-Identifier: Apache-2.0
// Tells a process that hangs from one to which a busy machine gives little time.
#pragma once

#include <chrono>

namespace assay::node {

/// A process hangs when it has used `limit` of processor time, or has used none at looks that make up
/// `limit`. That it runs long says nothing: beside a miner that computes on every core, a check of low
/// priority takes many times its own time. Whoever waits needs a limit of its own for a process that wakes
/// now and then.
class HangDetector {
public:
    using Duration = std::chrono::nanoseconds;

    /// `interval`: between two looks.
    HangDetector(Duration limit, Duration interval) : limit_(limit), interval_(interval) {}

    /// To be called at each look. `used`: processor time since the process began.
    [[nodiscard]] bool hangs(Duration used) {
        idle_ = used > used_ ? Duration::zero() : idle_ + interval_;
        used_ = used;
        return used_ >= limit_ || idle_ >= limit_;
    }

private:
    Duration limit_, interval_;
    Duration used_{0}, idle_{0};
};

}  // namespace assay::node
