// SPDX-License-Identifier: Apache-2.0
// Gives processes a supervised assay-worker: started as a child process, watched, and started again when
// it dies.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "node/wire/descriptor.hpp"
#include "node/worker/worker_client.hpp"
#include "node/worker/worker_options.hpp"

namespace assay::node {

/// When the child dies (crash, kill -9, memory), it is started again, the open job is opened again, and the
/// request at work is sent again; a Train goes on from its last boundary, so the handler sees each boundary
/// once (steps after it may report Progress twice) and the bits are those of an undisturbed run. A child that
/// finds other bits, at work or in the self-test of its start, refuses with kUnsound, and the event is
/// spoiled.
class WorkerProcess final : public WorkerClient {
public:
    /// Starts the child and waits for its Hello; refuses another protocol version and a self-test that does
    /// not match (kPreflight: this machine or build computes other bits and must not train). Threads, memory,
    /// targets and the device are the child's to judge: kUsage for a value that is none, kPreflight for a
    /// target or a device that is not there.
    static base::Outcome<std::unique_ptr<WorkerProcess>> start(WorkerOptions options);

    /// Ends the child; requests without an answer get a kCancelled refusal first.
    ~WorkerProcess() override;

    WorkerRequestId submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                           WorkerHandler handler) override;
    void cancel(WorkerRequestId request) override;
    [[nodiscard]] frames::Hello hello() const override;

    /// Process number of the child now running; 0 between two children.
    [[nodiscard]] pid_t pid() const;
    /// Children that died so far.
    [[nodiscard]] unsigned deaths() const;

    /// Bytes that passed the sockets of all workers of this process, in both directions.
    static std::uint64_t socket_bytes();

private:
    class Impl;
    explicit WorkerProcess(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::node
