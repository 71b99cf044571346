// SPDX-License-Identifier: Apache-2.0
#include "node/worker/request_queue.hpp"

#include <poll.h>

#include <utility>

#include "contracts/base/check.hpp"

namespace assay::node {

WorkerRequestId RequestQueue::push(frames::Message message, std::vector<frames::SharedDescriptor> bulk,
                                   WorkerHandler handler) {
    WorkerRequestId id = 0;
    {
        const std::lock_guard lock(mutex_);
        id = next_id_++;
        requests_.push_back({id, std::move(message), std::move(bulk), std::move(handler)});
    }
    wakeup_.wake();
    return id;
}

void RequestQueue::cancel(WorkerRequestId id) {
    {
        const std::lock_guard lock(mutex_);
        for (QueuedRequest& request : requests_) request.cancelled = request.cancelled || request.id == id;
    }
    wakeup_.wake();
}

void RequestQueue::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    wakeup_.wake();
}

void RequestQueue::await_request() const {
    pollfd woken{wakeup_.number(), POLLIN, 0};
    while (!closed() && front() == nullptr) {
        static_cast<void>(::poll(&woken, 1, -1));
        wakeup_.clear();
    }
}

bool RequestQueue::closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

const QueuedRequest* RequestQueue::front() const {
    const std::lock_guard lock(mutex_);
    return requests_.empty() ? nullptr : &requests_.front();
}

QueuedRequest* RequestQueue::front() {
    const std::lock_guard lock(mutex_);
    return requests_.empty() ? nullptr : &requests_.front();
}

bool RequestQueue::is_cancelled(const QueuedRequest& request) const {
    const std::lock_guard lock(mutex_);
    return request.cancelled;
}

QueuedRequest RequestQueue::take_front() {
    const std::lock_guard lock(mutex_);
    ASSAY_CHECK(!requests_.empty());
    QueuedRequest taken = std::move(requests_.front());
    requests_.pop_front();
    return taken;
}

std::deque<QueuedRequest> RequestQueue::take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
}

}  // namespace assay::node
