// SPDX-License-Identifier: Apache-2.0
// Gives ports QueuedBytes, the count of what they posted and the role has not taken yet. With it a port that
// is quicker than its role waits for room. Internal to node/runtime.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace assay::node {

/// Thread-safe. add() neither waits nor refuses, so that one item fits however large it is. Where one thread
/// adds, and only after full() was false, at most `most` bytes and one item are queued.
class QueuedBytes {
public:
    explicit QueuedBytes(std::size_t most) : most_(most) {}

    /// Counts `bytes` until the last copy of what it returns is gone. That may be later than this object, and
    /// on any thread.
    [[nodiscard]] std::shared_ptr<const void> add(std::size_t bytes) {
        return std::make_shared<const Share>(count_, bytes);
    }

    /// Whether more than `most` bytes are queued.
    [[nodiscard]] bool full() const {
        const std::lock_guard lock(count_->mutex);
        return count_->bytes > most_;
    }

    /// Waits until at most half of `most` bytes are queued, or until `stop` is requested. Half, so that
    /// who adds is not woken for every item. REQUIRES that this object lives until the wait is over.
    void wait_for_room(const std::stop_token& stop) {
        std::unique_lock lock(count_->mutex);
        count_->less.wait(lock, stop, [this] { return count_->bytes <= most_ / 2; });
    }

private:
    struct Count {
        std::mutex mutex;
        std::condition_variable_any less;
        std::size_t bytes = 0;
    };

    class Share {
    public:
        Share(std::shared_ptr<Count> count, std::size_t bytes) : count_(std::move(count)), bytes_(bytes) {
            const std::lock_guard lock(count_->mutex);
            count_->bytes += bytes_;
        }
        ~Share() {
            {
                const std::lock_guard lock(count_->mutex);
                count_->bytes -= bytes_;
            }
            count_->less.notify_all();
        }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

    private:
        std::shared_ptr<Count> count_;
        std::size_t bytes_;
    };

    const std::size_t most_;
    const std::shared_ptr<Count> count_ = std::make_shared<Count>();
};

}  // namespace assay::node
