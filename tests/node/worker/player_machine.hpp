// SPDX-License-Identifier: Apache-2.0
// A player of a dispute with nothing but a worker process.
#pragma once

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "contracts/dispute/tree.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_job.hpp"

namespace assay::tests {

namespace frames = worker;
using node::call_for;

inline std::unique_ptr<node::WorkerProcess> started() {
    node::WorkerOptions options;
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    REQUIRE(folder != nullptr);
    options.program = std::filesystem::path(folder) / "assay-worker";
    options.threads = 1;
    auto worker = node::WorkerProcess::start(options);
    if (!worker.ok()) FAIL(worker.error().what);
    return std::move(worker).value();
}

/// A worker with the job open, and slot 0 of round 0 trained.
struct PlayerMachine {
    explicit PlayerMachine(const TinyJob& job, const std::string& chain = "devnet-1") : worker(started()) {
        auto file = frames::memory_file("test", job.file);
        REQUIRE(file.ok());
        const frames::SharedDescriptor tokens = std::move(file).value();
        REQUIRE(call_for<frames::Opened>(*worker, frames::OpenJob{chain, job.spec}, {tokens, tokens}).ok());
        auto initial = node::initial_state(*worker);
        REQUIRE(initial.ok());
        base = initial->bytes;
        const auto trained =
            call_for<frames::Trained>(*worker, frames::Train{}, {base}, [&](const node::WorkerEvent& event) {
                if (std::get_if<frames::Boundary>(&event.message) != nullptr) states.push_back(event.bulk);
            });
        REQUIRE(trained.ok());
        trace = trained->first.trace;
        if (!trained->second.empty()) update = trained->second.front();
    }

    base::Outcome<std::pair<frames::Descended, std::vector<frames::SharedDescriptor>>> ask(
        const frames::Descend& request, const std::vector<frames::SharedDescriptor>& bulk) const {
        return call_for<frames::Descended>(*worker, request, bulk);
    }
    std::unique_ptr<node::WorkerProcess> worker;
    frames::SharedDescriptor base;
    std::vector<std::vector<frames::SharedDescriptor>> states;
    program::TraceRecord trace;
    frames::SharedDescriptor update;  ///< null where the slot's work ended before it
};

inline base::Hash256 root_of(const std::vector<base::Hash256>& hashes) {
    return dispute::StoredTree(hashes).root();
}

}  // namespace assay::tests
