// SPDX-License-Identifier: Apache-2.0
// Gives assay-worker its loop, which reads frames on one thread and runs requests, one at a time, on another.
#pragma once

#include <memory>

#include "node/wire/channel.hpp"
#include "node/worker/program/pacer.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

/// How the process computes. The device's arena is ignored: each job gets its own.
struct WorkerServerOptions {
    trainer::RunnerOptions runner;
    std::vector<std::string> targets;  ///< for Hello: the targets that may run, best first
    unsigned duty = 100;               ///< percent of the time in which it computes (pacer.hpp)
    std::shared_ptr<RestClock> clock = std::make_shared<RestClock>();  ///< by which it rests
};

/// Sends Hello, then serves until the other side closes the socket. Returns the exit code: 0 after a clean
/// end, 1 after a frame that could not be read (it is answered with a Refusal first).
int serve(worker::Descriptor socket, const WorkerServerOptions& options);

}  // namespace assay::verifier
