// SPDX-License-Identifier: Apache-2.0
// Gives roles the worker client as a port: its answers become events of the strand.
#pragma once

#include <map>

#include "node/runtime/loop.hpp"
#include "node/seams/ports.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

/// A role without a worker gets a port with a null client; asking that port for work is a bug of ours.
class LoopWorkerPort final : public WorkerPort {
public:
    LoopWorkerPort(WorkerClient* client, Loop& loop) : client_(client), loop_(loop) {}

    void submit(RequestId request, worker::Message message,
                std::vector<worker::SharedDescriptor> bulk) override;
    void cancel(RequestId request) override;
    [[nodiscard]] std::size_t width() const override;

private:
    WorkerClient* client_;
    Loop& loop_;
    std::map<RequestId, WorkerRequestId> ids_;  ///< requests that still wait for their last answer
};

}  // namespace assay::node
