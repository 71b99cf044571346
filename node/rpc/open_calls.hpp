// SPDX-License-Identifier: Apache-2.0
// Gives a server OpenCalls, its calls in progress, counted by kind, caller and address. No call holds a
// thread while its client is slow, and a call that makes no progress is cut. Internal to node/rpc.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "node/rpc/caller.hpp"
#include "node/rpc/server.hpp"

namespace assay::node {

/// Kinds are counted separately, so that none takes another's room.
enum class CallKind : std::uint8_t {
    kAnswer,        ///< one message
    kTransfer,      ///< blocks and blobs: ends by itself
    kSubscription,  ///< without end
};

/// One call, from admission to the end. Calls are reactors of gRPC: they delete themselves.
class OpenCall {
public:
    using Clock = std::chrono::steady_clock;

    OpenCall(CallKind kind, Caller caller, Clock::duration longest = Clock::duration::max())
        : kind_(kind), caller_(std::move(caller)), began_(Clock::now()), longest_(longest) {}
    virtual ~OpenCall() = default;
    OpenCall(const OpenCall&) = delete;
    OpenCall& operator=(const OpenCall&) = delete;

    /// Ends the call soon, whatever it waits for. Any thread, any number of times; must not block.
    virtual void cut() = 0;

    [[nodiscard]] CallKind kind() const { return kind_; }
    [[nodiscard]] const Caller& caller() const { return caller_; }
    /// True when the client has taken no message for `stall`, or the call lasts longer than it may.
    [[nodiscard]] bool overdue(Clock::time_point now, Clock::duration stall) const;

protected:
    /// Called before and after the one thing that only the client can finish: taking a message.
    void handed_out() { since_.store(Clock::now()); }
    void taken() { since_.store(Clock::time_point::max()); }

private:
    CallKind kind_;
    Caller caller_;
    Clock::time_point began_;
    Clock::duration longest_;
    std::atomic<Clock::time_point> since_{Clock::time_point::max()};
};

/// Thread-safe.
class OpenCalls {
public:
    explicit OpenCalls(const ServerLimits& limits);

    /// Counts the call and watches it until leave(). False when the server is full for this kind or caller,
    /// or stops; the call must then end with RESOURCE_EXHAUSTED.
    [[nodiscard]] bool admit(OpenCall& call);
    /// The last thing that an admitted call does.
    void leave(OpenCall& call);

    /// Cuts every call and admits none from now on.
    void stop();

private:
    /// Calls of one kind in progress.
    struct Counts {
        CallLimits limits;
        int total = 0;
        std::map<std::string, int> by_caller, by_address;
    };
    Counts& counts(CallKind kind) { return counts_[static_cast<std::size_t>(kind)]; }
    void watch(const std::stop_token& stop);

    OpenCall::Clock::duration stall_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    Counts counts_[3];
    std::set<OpenCall*> calls_;
    bool stopping_ = false;
    std::jthread watcher_;  // last: it uses everything above
};

}  // namespace assay::node
