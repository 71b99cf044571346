// SPDX-License-Identifier: Apache-2.0
// Gives processes WorkerProcess, a supervised assay-worker: it starts the child process, watches it, and
// starts it again when it dies or hangs.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "node/wire/descriptor.hpp"
#include "node/worker/worker_client.hpp"
#include "node/worker/worker_options.hpp"

namespace assay::node {

/// When the child dies (crash, kill -9, memory) or hangs at work (a card whose kernel never ends:
/// WorkerOptions::least_patience), it is started again, the open job is opened again, and the
/// running request is sent again. A Train goes on from its last boundary, so the handler sees each boundary
/// once (steps after it may report Progress twice), and the bits are those of an undisturbed run. A child
/// that finds wrong bits, at work or in its self-test at the start, refuses with kUnsound, and the event is
/// spoiled. While a child cannot be ended (WorkerOptions::kill_patience), since its driver does not let go of
/// it, its device is lost: requests are refused with kLost. The first request after its end starts another.
class WorkerProcess final : public WorkerClient {
public:
    /// Starts the child and waits for its Hello. Fails for another protocol version, and for a self-test that
    /// does not match (kPreflight: this machine or build computes wrong bits and must not train). The child
    /// checks threads, memory, targets and device: kUsage for a malformed value, kPreflight for a target or
    /// device that is not there.
    static base::Outcome<std::unique_ptr<WorkerProcess>> start(WorkerOptions options);

    /// Ends the child, and leaves one that cannot be ended to the kernel. Requests without an answer get a
    /// kCancelled refusal first, those too that a handler submits meanwhile.
    ~WorkerProcess() override;

    WorkerRequestId submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                           WorkerHandler handler) override;
    void cancel(WorkerRequestId request) override;
    [[nodiscard]] frames::Hello hello() const override;

    /// Process number of the running child; 0 between two children.
    [[nodiscard]] pid_t pid() const;
    /// Children that died so far, those that hung among them.
    [[nodiscard]] unsigned deaths() const;

    /// Bytes that passed the sockets of all workers of this process, in both directions.
    static std::uint64_t socket_bytes();

private:
    class Impl;
    explicit WorkerProcess(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::node
