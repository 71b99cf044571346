// SPDX-License-Identifier: Apache-2.0
// Gives tests of a worker's frames ServedWorker: the worker's loop on a thread of the test, with an open job.
#pragma once

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "node/worker/program/server.hpp"
#include "tests/node/worker/worker_calls.hpp"
#include "trainer/host/targets.hpp"

namespace assay::node::test_worker {

class ServedWorker {
public:
    explicit ServedWorker(verifier::WorkerServerOptions options) {
        auto ends = frames::socket_pair();
        REQUIRE(ends.ok());
        channel_.emplace(std::move(ends->first));
        options.runner.device.cpu.target = trainer::choose_target("").value();
        loop_ = std::thread([options = std::move(options), socket = std::move(ends->second)]() mutable {
            verifier::serve(std::move(socket), options);
        });
        REQUIRE(std::holds_alternative<frames::Hello>(channel_->receive()->message));
        const tests::TinyJob job = tests::tiny_job();
        const auto file = in_memory(job.file);
        ask(frames::OpenJob{"devnet-1", job.spec}, {file, file});
        REQUIRE(std::holds_alternative<frames::Opened>(answer().message));
        ask(frames::Initial{}, {});
        const frames::Envelope initial = answer();
        base_ = initial.bulk.at(0);
        base_root_ = std::get<frames::BaseStateFrame>(initial.message).root;
    }
    ~ServedWorker() { close(); }
    ServedWorker(const ServedWorker&) = delete;
    ServedWorker& operator=(const ServedWorker&) = delete;

    /// The base state of round 0.
    [[nodiscard]] const frames::SharedDescriptor& base() const { return base_; }

    [[nodiscard]] const base::Hash256& base_root() const { return base_root_; }

    void ask(frames::Message message, std::vector<frames::SharedDescriptor> bulk) {
        REQUIRE(channel_->send({++number_, std::move(message), std::move(bulk)}).ok());
    }
    void train() { ask(train_request(0), {base_}); }
    /// Whether it lets boundaries go as they come.
    void take_boundaries(bool takes) { takes_ = takes; }
    void taken() { REQUIRE(channel_->send({number_, frames::Taken{}, {}}).ok()); }
    frames::Envelope next_frame() {
        auto envelope = channel_->receive();
        REQUIRE(envelope.ok());
        return std::move(envelope).value();
    }
    /// Cancels the last request.
    void cancel() { REQUIRE(channel_->send({number_, frames::Cancel{}, {}}).ok()); }

    /// All frames of the last request, the answer last.
    std::vector<frames::Envelope> frames_of_request() {
        std::vector<frames::Envelope> all;
        do {
            auto envelope = channel_->receive();
            REQUIRE(envelope.ok());
            all.push_back(std::move(envelope).value());
            if (std::holds_alternative<frames::Boundary>(all.back().message) && takes_)
                REQUIRE(channel_->send({number_, frames::Taken{}, {}}).ok());
        } while (!frames::is_final(all.back().message));
        return all;
    }
    frames::Envelope answer() { return std::move(frames_of_request().back()); }

    void close() {
        if (!loop_.joinable()) return;
        channel_.reset();
        loop_.join();
    }

private:
    std::optional<frames::Channel> channel_;
    std::thread loop_;
    frames::SharedDescriptor base_;
    base::Hash256 base_root_;
    std::uint64_t number_ = 0;
    bool takes_ = true;
};

}  // namespace assay::node::test_worker
