// SPDX-License-Identifier: Apache-2.0
#include "node/roles/worker_refusals.hpp"

namespace assay::node {

namespace frames = worker;

Remedy remedy_for(const frames::Refusal& refusal) {
    switch (frames::cause_of(refusal.reason)) {
        case frames::RefusalCause::kPassing: return Remedy::kAgain;
        case frames::RefusalCause::kBytes:
        case frames::RefusalCause::kRequest: return Remedy::kNever;
        case frames::RefusalCause::kResult: return Remedy::kResult;
        case frames::RefusalCause::kMeans:
            // How this machine is set up stays as it is; memory comes back and a worker is started again.
            return refusal.reason == frames::RefusalReason::kMachine ? Remedy::kNever : Remedy::kAgain;
        case frames::RefusalCause::kUnsound:
        case frames::RefusalCause::kLost: return Remedy::kEnd;
    }
    return Remedy::kNever;
}

std::string with_fix(const frames::Refusal& refusal) {
    return refusal.text + (refusal.fix.empty() ? "" : "; " + refusal.fix);
}

base::Error not_done(const std::string& what, const WorkerAnswered& answer) {
    const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
    const std::string fix = refusal != nullptr ? refusal->fix : "";
    return {base::ErrorKind::kPreflight,
            what + ": " + (refusal != nullptr ? refusal->text : "the worker answered with something else"),
            fix.empty() ? "run `assay doctor`, then start the verifier again" : fix};
}

}  // namespace assay::node
