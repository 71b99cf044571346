// SPDX-License-Identifier: Apache-2.0
// Gives tests of real workers the program that the build made, and the requests that each of them begins
// with.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

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

}  // namespace assay::node::test_worker
