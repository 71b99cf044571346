// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/records.hpp"

namespace assay::contracts {

std::string_view to_text(JobPhase phase) {
    switch (phase) {
        case JobPhase::kAskCommit: return "ask_commit";
        case JobPhase::kAskReveal: return "ask_reveal";
        case JobPhase::kRounds: return "rounds";
        case JobPhase::kEnded: return "ended";
        case JobPhase::kRefill: return "refill";
        case JobPhase::kClosing: return "closing";
    }
    return "unknown";
}

}  // namespace assay::contracts
