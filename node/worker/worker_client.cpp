// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_client.hpp"

#include <future>

namespace assay::node {

base::Error to_error(const frames::Refusal& refusal) {
    using frames::RefusalReason;
    const std::string what =
        refusal.text.empty() ? std::string(frames::to_text(refusal.reason)) : refusal.text;
    switch (refusal.reason) {
        case RefusalReason::kCancelled: return {base::ErrorKind::kInterrupted, what, refusal.fix};
        case RefusalReason::kBadBytes:
            return {base::ErrorKind::kVerification, what,
                    refusal.fix.empty() ? "fetch the file again from another holder" : refusal.fix};
        case RefusalReason::kBadRequest:
        case RefusalReason::kDrillForbidden: return {base::ErrorKind::kUsage, what, refusal.fix};
        case RefusalReason::kUnsound:
        case RefusalReason::kLost:
        case RefusalReason::kMachine: return {base::ErrorKind::kPreflight, what, refusal.fix};
        case RefusalReason::kBadFrame:
        case RefusalReason::kNoJob:
        case RefusalReason::kNotSupported:
        case RefusalReason::kInternal:
        case RefusalReason::kDiverged: break;
    }
    return {base::ErrorKind::kFailure, what, refusal.fix};
}

base::Outcome<WorkerEvent> call(WorkerClient& worker, frames::Message request,
                                std::vector<frames::SharedDescriptor> bulk,
                                const std::function<void(const WorkerEvent&)>& observe) {
    std::promise<WorkerEvent> promise;
    auto answer = promise.get_future();
    worker.submit(std::move(request), std::move(bulk), [&](WorkerEvent event) {
        if (event.last) {
            promise.set_value(std::move(event));
        } else if (observe) {
            observe(event);
        }
    });
    WorkerEvent event = answer.get();
    if (const auto* refusal = std::get_if<frames::Refusal>(&event.message)) {
        return base::failed(to_error(*refusal));
    }
    return event;
}

}  // namespace assay::node
