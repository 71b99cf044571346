// SPDX-License-Identifier: Apache-2.0
// Gives a worker's client WorkerPatience: how long the worker of a card may report nothing before it counts
// as one that hangs.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>

#include "contracts/worker/frames.hpp"

namespace assay::node {

/// Before anything is known of a kind of request in the open job, and for requests whose pieces differ too
/// much, the limit is kUnknown. Train, Replay and Evaluate consist of pieces of one length (steps,
/// micro-batches), each of which ends with a frame. Their limit is a multiple of the longest silence that was
/// seen, and no less than a floor. It is known for Train after its first report. Replay and Evaluate have to
/// be answered once, because files are read before their first piece, and hashed after their last.
class WorkerPatience {
public:
    using Duration = std::chrono::nanoseconds;
    static constexpr int kMultiple = 32;  ///< of the longest silence
    static constexpr std::chrono::hours kUnknown{1};

    explicit WorkerPatience(Duration least) : least_(least) {}

    /// Another job was opened: its pieces take another time.
    void forget() { seen_.clear(); }
    /// A request of this kind begins.
    void begin(worker::FrameKind request) { seen_[request].pieces = false; }
    /// A frame of a request of this kind came after this silence.
    void heard(worker::FrameKind request, worker::FrameKind frame, Duration silence) {
        SeenSilence& seen = seen_[request];
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
        const auto found = seen_.find(request);
        if (found == seen_.end() || !found->second.known) return kUnknown;
        return std::max(least_, kMultiple * found->second.longest);
    }

private:
    struct SeenSilence {
        Duration longest{0};
        bool pieces = false;  ///< the request at work has ended one
        bool known = false;
    };
    Duration least_;
    std::map<worker::FrameKind, SeenSilence> seen_;
};

}  // namespace assay::node
