// SPDX-License-Identifier: Apache-2.0
// Gives roles WorkerClient, the worker as they see it: requests go in, events come back through a callback.
// It is an interface, so that a simulation can use a model of a worker instead.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/worker/frames.hpp"
#include "node/wire/descriptor.hpp"

namespace assay::node {

namespace frames = worker;

using WorkerRequestId = std::uint64_t;

/// One frame of an answer (frames.hpp). The event with `last` ends its request; `message` is then the answer
/// or a frames::Refusal.
struct WorkerEvent {
    WorkerRequestId request = 0;
    frames::Message message;
    std::vector<frames::SharedDescriptor> bulk;
    bool last = false;
    std::string device = {};  ///< the device that gave it: "cpu", "cuda:1"
    /// The device computes wrong bits: nothing that it ever gave counts. `message` is then a Refusal.
    bool spoiled = false;
    /// Of a Boundary: the worker sends no further one while a copy of this exists. So keep it as long as the
    /// files are needed in memory, and no longer.
    std::shared_ptr<const void> held = nullptr;
};

using WorkerHandler = std::function<void(WorkerEvent)>;

class WorkerClient {
public:
    virtual ~WorkerClient() = default;

    /// Queues a request; requests run in order, width() at a time. `handler` is called from a thread of the
    /// client, never from inside submit(); a role posts the event to its own strand. It is called exactly
    /// once with `last`, also when the worker dies for good (kInternal with the reason) or the client is
    /// destroyed (kCancelled).
    virtual WorkerRequestId submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                                   WorkerHandler handler) = 0;

    /// Asks for an early end; the handler still gets its last event, usually a kCancelled refusal.
    virtual void cancel(WorkerRequestId request) = 0;

    /// What the worker reported about itself when it last started.
    [[nodiscard]] virtual frames::Hello hello() const = 0;

    /// Number of requests that run at a time, at least 1.
    [[nodiscard]] virtual std::size_t width() const { return 1; }
};

/// A refusal as the error that a command prints: its text and fix, and an error kind by its reason.
base::Error to_error(const frames::Refusal& refusal);

/// Sends one request and waits for its end; `observe` sees the events before the last. For commands, not for
/// roles. REQUIRES not to be called from a handler.
base::Outcome<WorkerEvent> call(WorkerClient& worker, frames::Message request,
                                std::vector<frames::SharedDescriptor> bulk,
                                const std::function<void(const WorkerEvent&)>& observe = {});

/// call() for a request whose answer is an `Answer`.
template <class Answer>
base::Outcome<std::pair<Answer, std::vector<frames::SharedDescriptor>>> call_for(
    WorkerClient& worker, frames::Message request, std::vector<frames::SharedDescriptor> bulk,
    const std::function<void(const WorkerEvent&)>& observe = {}) {
    ASSAY_ASSIGN(auto event, call(worker, std::move(request), std::move(bulk), observe));
    if (Answer* answer = std::get_if<Answer>(&event.message)) {
        return std::make_pair(std::move(*answer), std::move(event.bulk));
    }
    return base::fail(base::ErrorKind::kFailure, "the worker answered a request with the wrong frame",
                      "assay and assay-worker must come from the same build");
}

}  // namespace assay::node
