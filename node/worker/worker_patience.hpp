// SPDX-License-Identifier: Apache-2.0
// Gives a worker's client WorkerPatience: how long the worker of a card may report nothing before it counts
// as one that hangs.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "contracts/worker/frames.hpp"

namespace assay::node {

/// The limit is kUnknown as long as nothing is known of a kind of request in a job, and always for requests
/// whose pieces differ too much. Train, Replay and Evaluate consist of pieces of one length (steps,
/// micro-batches), each of which ends with a frame. Their limit is a multiple of the longest silence that was
/// seen. It is no less than a floor, and no more than twice that silence where this is above kUnknown. It is
/// known for Train after its first report. Replay and Evaluate have to be answered once, because files are
/// read before their first piece, and hashed after their last.
class WorkerPatience {
public:
    using Duration = std::chrono::nanoseconds;
    static constexpr int kMultiple = 32;  ///< of the longest silence
    static constexpr Duration kUnknown = std::chrono::hours(1);

    explicit WorkerPatience(Duration least) : least_(least) {}

    /// The job with this encoding is open from now on. What was seen of it before counts again.
    void open(const std::string& job) {
        if (seen_.size() >= kMostJobs && seen_.count(job) == 0) seen_.clear();
        open_ = job;
    }
    /// A request of this kind begins.
    void begin(worker::FrameKind request) { seen_[open_][request].pieces = false; }
    /// A frame of a request of this kind came after this silence.
    void heard(worker::FrameKind request, worker::FrameKind frame, Duration silence) {
        SeenSilence& seen = seen_[open_][request];
        seen.longest = std::max(seen.longest, silence);
        switch (frame) {
            case worker::FrameKind::kProgress:
            case worker::FrameKind::kBoundary: seen.known = true; break;
            case worker::FrameKind::kPulse: seen.pieces = true; break;
            case worker::FrameKind::kReplayed:
            case worker::FrameKind::kEvaluated: seen.known = seen.known || seen.pieces; break;
            default: break;
        }
    }
    /// The silence from which on a worker with such a request hangs.
    [[nodiscard]] Duration limit(worker::FrameKind request) const {
        const auto job = seen_.find(open_);
        if (job == seen_.end()) return kUnknown;
        const auto found = job->second.find(request);
        if (found == job->second.end() || !found->second.known) return kUnknown;
        const Duration longest = found->second.longest;
        return std::max(least_, std::min(kMultiple * longest, std::max(kUnknown, 2 * longest)));
    }

private:
    struct SeenSilence {
        Duration longest{0};
        bool pieces = false;  ///< the request at work has ended one
        bool known = false;
    };
    using SeenRequests = std::map<worker::FrameKind, SeenSilence>;
    static constexpr std::size_t kMostJobs = 64;

    Duration least_;
    std::map<std::string, SeenRequests> seen_;  ///< by job
    std::string open_;                          ///< job; empty before the first
};

}  // namespace assay::node
