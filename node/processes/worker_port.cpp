// SPDX-License-Identifier: Apache-2.0
#include "node/processes/worker_port.hpp"

namespace assay::node {

void LoopWorkerPort::submit(RequestId request, worker::Message message,
                            std::vector<worker::SharedDescriptor> bulk) {
    ASSAY_CHECK(client_ != nullptr);
    ids_[request] =
        client_->submit(std::move(message), std::move(bulk), [this, request](const WorkerEvent& event) {
            loop_.post(RoleEvent{WorkerAnswered{.request = request,
                                                .message = event.message,
                                                .bulk = event.bulk,
                                                .last = event.last,
                                                .device = event.device,
                                                .spoiled = event.spoiled}},
                       event.held);
            if (event.last) loop_.post([this, request] { ids_.erase(request); });
        });
}

void LoopWorkerPort::cancel(RequestId request) {
    if (const auto found = ids_.find(request); found != ids_.end()) client_->cancel(found->second);
}

std::size_t LoopWorkerPort::width() const {
    ASSAY_CHECK(client_ != nullptr);
    return client_->width();
}

}  // namespace assay::node
