// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/open_calls.hpp"

namespace assay::node {
namespace {

int count_of(const std::map<std::string, int>& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
}

void take_one(std::map<std::string, int>& counts, const std::string& key) {
    const auto found = counts.find(key);
    if (--found->second == 0) counts.erase(found);
}

}  // namespace

bool OpenCall::overdue(Clock::time_point now, Clock::duration stall) const {
    const Clock::time_point since = since_.load();
    return (since < now && now - since > stall) || now - began_ > longest_;
}

OpenCalls::OpenCalls(const ServerLimits& limits)
    : stall_(limits.stall), watcher_([this](const std::stop_token& stop) { watch(stop); }) {
    const std::lock_guard lock(mutex_);
    counts(CallKind::kAnswer).limits = limits.answers;
    counts(CallKind::kTransfer).limits = limits.transfers;
    counts(CallKind::kSubscription).limits = limits.subscriptions;
}

bool OpenCalls::admit(OpenCall& call) {
    const std::lock_guard lock(mutex_);
    Counts& all = counts(call.kind());
    const auto& [name, address] = call.caller();
    if (stopping_ || all.total >= all.limits.total ||
        count_of(all.by_caller, name) >= all.limits.per_caller ||
        count_of(all.by_address, address) >= all.limits.per_address) {
        return false;
    }
    ++all.total;
    ++all.by_caller[name];
    ++all.by_address[address];
    calls_.insert(&call);
    return true;
}

void OpenCalls::leave(OpenCall& call) {
    const std::lock_guard lock(mutex_);
    Counts& all = counts(call.kind());
    --all.total;
    take_one(all.by_caller, call.caller().name);
    take_one(all.by_address, call.caller().address);
    calls_.erase(&call);
}

void OpenCalls::stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (OpenCall* call : calls_) call->cut();
}

void OpenCalls::watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        const auto now = OpenCall::Clock::now();
        for (OpenCall* call : calls_) {
            if (call->overdue(now, stall_)) call->cut();
        }
        wake_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
    }
}

}  // namespace assay::node
