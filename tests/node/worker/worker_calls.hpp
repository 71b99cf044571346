// SPDX-License-Identifier: Apache-2.0
// Gives tests of real workers the program that the build made, and the requests that each of them begins
// with.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_job.hpp"

namespace assay::node::test_worker {

inline WorkerOptions options() {
    WorkerOptions options;
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    REQUIRE(folder != nullptr);
    options.program = std::filesystem::path(folder) / "assay-worker";
    options.threads = 1;
    return options;
}

inline frames::SharedDescriptor in_memory(base::ByteView bytes) {
    auto file = frames::memory_file("test", bytes);
    REQUIRE(file.ok());
    return std::move(file).value();
}

/// Opens the job and returns the base state of round 0.
inline StateFile opened(WorkerClient& worker, const tests::TinyJob& job,
                        const std::string& chain = "devnet-1") {
    const auto file = in_memory(job.file);
    const auto answer = call_for<frames::Opened>(worker, frames::OpenJob{chain, job.spec}, {file, file});
    if (!answer.ok()) FAIL(answer.error().what);
    CHECK(answer->first.parameters > 0);
    auto base = initial_state(worker);
    REQUIRE(base.ok());
    return std::move(base).value();
}

inline frames::Train train_request(std::uint32_t slot) {
    frames::Train request;
    request.slot = slot;
    return request;
}

inline std::unique_ptr<WorkerProcess> started(const WorkerOptions& how = options()) {
    auto worker = WorkerProcess::start(how);
    if (!worker.ok()) FAIL(worker.error().what);
    return std::move(worker).value();
}

/// Returns when every thread of the process is stopped. kill() returns earlier: on a busy machine, threads
/// that are scheduled before the one that takes the signal go on, and read a whole request. False where the
/// process is gone.
inline bool stop_process(pid_t process) {
    if (process <= 0 || ::kill(process, SIGSTOP) != 0) return false;
    siginfo_t stopped{};
    int waited = 0;
    do {
        waited = ::waitid(P_PID, static_cast<id_t>(process), &stopped, WSTOPPED | WEXITED | WNOWAIT);
    } while (waited != 0 && errno == EINTR);
    return waited == 0 && stopped.si_code == CLD_STOPPED;
}

inline void stop(const WorkerProcess& worker) { REQUIRE(stop_process(worker.pid())); }

struct TrainLog {
    frames::Trained trained;
    std::vector<std::uint32_t> boundaries;
    std::vector<std::vector<frames::SharedDescriptor>> states;  ///< head and arrays of each
    frames::SharedDescriptor update;
};

/// Trains slot 0; `meddle` sees every event before the last.
inline TrainLog train(WorkerClient& worker, const StateFile& base,
                      const std::function<void(const WorkerEvent&)>& meddle = {}) {
    TrainLog log;
    const auto answer =
        call_for<frames::Trained>(worker, train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
            if (const auto* boundary = std::get_if<frames::Boundary>(&event.message)) {
                log.boundaries.push_back(boundary->index);
                log.states.push_back(event.bulk);
            }
            if (meddle) meddle(event);
        });
    if (!answer.ok()) FAIL(answer.error().what);
    log.trained = answer->first;
    REQUIRE(answer->second.size() == 1);
    log.update = answer->second.front();
    return log;
}

inline base::Bytes content(const frames::SharedDescriptor& file) {
    auto bytes = frames::read_all(*file, frames::kMaxBulk);
    REQUIRE(bytes.ok());
    return std::move(bytes).value();
}

}  // namespace assay::node::test_worker
