// SPDX-License-Identifier: Apache-2.0
// Gives code that runs assay-worker its options, and the child process that they describe.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/runtime/process.hpp"

namespace assay::node {

struct WorkerOptions {
    /// Empty: ASSAY_WORKER from the environment, else `assay-worker` in the folder of the running program.
    std::filesystem::path program;
    unsigned threads = 0;       ///< 0: ASSAY_THREADS, else 1
    unsigned duty = 0;          ///< percent of the time in which it computes; 0: ASSAY_DUTY, else 100
    std::string memory;         ///< budget as ASSAY_MEMORY ("2GiB", "0"); empty: inherit the environment's
    std::string device_memory;  ///< of a card, as ASSAY_DEVICE_MEMORY; empty: inherit the environment's
    std::string targets;        ///< as ASSAY_TARGETS; empty: inherit the environment's
    std::string device;         ///< what computes: "cpu" (if empty) or another that the child has
    std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours, only for the child
    /// Deaths in a row, without an answered request or a new boundary between them, after which the client
    /// gives up.
    unsigned max_deaths = 5;
    /// The child of a card that has a request and reports nothing for this long, and for much longer than
    /// ever before in its job (WorkerPatience), hangs: it is ended, and counts as one that died. So is one
    /// that stops for this long in the middle of a frame.
    std::chrono::nanoseconds least_patience = std::chrono::minutes(2);
    /// How a child is ended, and for how long its end is waited for. The kernel does not end one that waits
    /// inside a driver. Tests take a signal that children ignore.
    int kill_signal = SIGKILL;
    std::chrono::milliseconds kill_patience = std::chrono::seconds(30);
};

/// The program that `options` names; kNotFound when there is none.
base::Outcome<std::filesystem::path> find_worker_program(const WorkerOptions& options);

/// The program with these arguments and `--device`, and the environment that the options name. kNotFound when
/// there is no program.
base::Outcome<ProcessOptions> process_of(const WorkerOptions& options, std::vector<std::string> arguments);

}  // namespace assay::node
