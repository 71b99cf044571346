// SPDX-License-Identifier: Apache-2.0
// Gives a worker's client StepPatience: how long the worker of a card may report nothing before it counts as
// one that hangs.
#pragma once

#include <algorithm>
#include <chrono>

namespace assay::node {

/// The limit of a worker that trains follows from what was seen: a multiple of the longest silence between
/// two frames of the open job, and no less than a floor. A step's time is not known before the first step has
/// ended. Until then, and for a job that is opened, the limit is kUnknown.
class StepPatience {
public:
    using Duration = std::chrono::nanoseconds;
    static constexpr int kMultiple = 32;  ///< of the longest silence
    static constexpr std::chrono::hours kUnknown{1};

    explicit StepPatience(Duration least) : least_(least) {}

    /// Another job is open: its steps take another time.
    void forget() { longest_ = Duration::zero(); }
    /// A frame came after a silence of this length.
    void heard(Duration silence) { longest_ = std::max(longest_, silence); }
    /// The silence from which on a worker hangs.
    [[nodiscard]] Duration limit() const {
        return longest_ == Duration::zero() ? Duration(kUnknown) : std::max(least_, kMultiple * longest_);
    }

private:
    Duration least_;
    Duration longest_{0};
};

}  // namespace assay::node
