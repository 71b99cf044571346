// SPDX-License-Identifier: Apache-2.0
// Gives a worker's client TakenFrames: which Boundary frames their handlers have let go, so that the worker
// may send the next one.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "node/wire/wakeup.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

/// Holds may outlive it, and are let go on any thread.
class TakenFrames {
public:
    /// A frame of this request, of the child with this number.
    struct Held {
        WorkerRequestId request = 0;
        unsigned child = 0;
    };

    /// `wakeup` is woken when a frame is let go. It must outlive this.
    explicit TakenFrames(const frames::Wakeup& wakeup) : shared_(std::make_shared<Shared>()) {
        shared_->wakeup = &wakeup;
    }
    ~TakenFrames() {
        const std::lock_guard lock(shared_->mutex);
        shared_->wakeup = nullptr;
    }
    TakenFrames(const TakenFrames&) = delete;
    TakenFrames& operator=(const TakenFrames&) = delete;

    /// When the last copy of what it returns is gone, take() has the frame.
    [[nodiscard]] std::shared_ptr<const void> hold(Held frame) const {
        return {shared_.get(), [shared = shared_, frame](const void*) {
                    const std::lock_guard lock(shared->mutex);
                    if (shared->wakeup == nullptr) return;
                    shared->taken.push_back(frame);
                    shared->wakeup->wake();
                }};
    }
    /// Those that were let go since the last call.
    [[nodiscard]] std::vector<Held> take() {
        const std::lock_guard lock(shared_->mutex);
        return std::exchange(shared_->taken, {});
    }

private:
    struct Shared {
        std::mutex mutex;
        std::vector<Held> taken;
        const frames::Wakeup* wakeup = nullptr;
    };
    std::shared_ptr<Shared> shared_;
};

}  // namespace assay::node
