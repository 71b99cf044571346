// SPDX-License-Identifier: Apache-2.0
// Gives a worker's client RequestQueue: callers put requests in, and one thread takes them out.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "node/wire/wakeup.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

struct QueuedRequest {
    WorkerRequestId id = 0;
    frames::Message message;
    std::vector<frames::SharedDescriptor> bulk;
    WorkerHandler handler;
    bool cancelled = false;  ///< RequestQueue::is_cancelled() reads it
    // What the child that is running knows.
    bool sent = false;
    bool cancel_sent = false;
    std::optional<std::size_t> before_state = {};  ///< files of a Train before its state to go on from
};

/// Callers never wait for more than each other: they change the queue's end and `cancelled`. All else of the
/// first request, and taking it, is the thread's alone.
class RequestQueue {
public:
    explicit RequestQueue(frames::Wakeup wakeup) : wakeup_(std::move(wakeup)) {}

    // From any thread. Each wakes the thread.

    WorkerRequestId push(frames::Message message, std::vector<frames::SharedDescriptor> bulk,
                         WorkerHandler handler);
    /// Does nothing when the request is not there any more.
    void cancel(WorkerRequestId id);
    /// Asks the thread to end.
    void close();

    // The thread's alone.

    [[nodiscard]] const frames::Wakeup& wakeup() const { return wakeup_; }
    /// Waits until there is a request, or the queue is closed.
    void await_request() const;
    [[nodiscard]] bool closed() const;
    /// The request at work, or the next one; null when there is none. Valid until it is taken.
    [[nodiscard]] QueuedRequest* front();
    [[nodiscard]] const QueuedRequest* front() const;
    [[nodiscard]] bool is_cancelled(const QueuedRequest& request) const;
    /// REQUIRES front().
    QueuedRequest take_front();
    std::deque<QueuedRequest> take_all();

private:
    const frames::Wakeup wakeup_;
    mutable std::mutex mutex_;
    std::deque<QueuedRequest> requests_;  // pushing leaves references to its elements valid
    WorkerRequestId next_id_ = 1;
    bool closed_ = false;
};

}  // namespace assay::node
