// SPDX-License-Identifier: Apache-2.0
// Inside node/rpc: what a server must know about its long calls. gRPC's synchronous interface does not tell a
// waiting handler that its client has gone, or that the server wants to stop, so one thread looks.
#pragma once

#include <grpcpp/server_context.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace assay::node {

/// A client that takes nothing for this long while something waits to be written is broken off.
inline constexpr std::chrono::seconds kStreamStall{30};

/// Thread-safe.
class Streams {
public:
    explicit Streams(int capacity);
    ~Streams();

    /// One stream in progress, from construction to destruction.
    class Guard {
    public:
        Guard(Streams& streams, grpc::ServerContext& context);
        ~Guard();
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;
        /// False when there are too many: the call must end with RESOURCE_EXHAUSTED.
        [[nodiscard]] bool admitted() const { return admitted_; }
        /// Requested when the client has gone or the server stops.
        [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
        /// Around a write to the client: only while one is pending can the stream stall.
        void writing() { since_.store(std::chrono::steady_clock::now()); }
        void written() { since_.store(std::chrono::steady_clock::time_point::max()); }

    private:
        friend class Streams;
        Streams& streams_;
        grpc::ServerContext& context_;
        std::stop_source stop_;
        std::atomic<std::chrono::steady_clock::time_point> since_{
            std::chrono::steady_clock::time_point::max()};
        bool admitted_ = false;
        std::list<Guard*>::iterator place_;
    };

    /// Requests stop of every stream, now and of those to come.
    void stop_all();

private:
    void watch(const std::stop_token& stop);

    int capacity_;
    std::mutex mutex_;
    std::list<Guard*> active_;
    bool stopping_ = false;
    std::jthread watcher_;
};

}  // namespace assay::node
