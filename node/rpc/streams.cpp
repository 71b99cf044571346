// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/streams.hpp"

namespace assay::node {

Streams::Streams(int capacity)
    : capacity_(capacity), watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

Streams::~Streams() { stop_all(); }

Streams::Guard::Guard(Streams& streams, grpc::ServerContext& context) : streams_(streams), context_(context) {
    const std::lock_guard lock(streams_.mutex_);
    admitted_ = static_cast<int>(streams_.active_.size()) < streams_.capacity_ && !streams_.stopping_;
    if (admitted_) place_ = streams_.active_.insert(streams_.active_.end(), this);
}

Streams::Guard::~Guard() {
    if (!admitted_) return;
    const std::lock_guard lock(streams_.mutex_);
    streams_.active_.erase(place_);
}

void Streams::stop_all() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Guard* guard : active_) guard->stop_.request_stop();
}

void Streams::watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        {
            const std::lock_guard lock(mutex_);
            const auto now = std::chrono::steady_clock::now();
            for (Guard* guard : active_) {
                const auto since = guard->since_.load();
                if (since < now && now - since > kStreamStall) guard->context_.TryCancel();
                if (guard->context_.IsCancelled()) guard->stop_.request_stop();
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

}  // namespace assay::node
