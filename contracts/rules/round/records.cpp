// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/records.hpp"

namespace assay::contracts {

std::string_view to_text(RoundPhase phase) {
    switch (phase) {
        case RoundPhase::kCommit: return "train";
        case RoundPhase::kBeacon: return "beacon";
        case RoundPhase::kServe: return "serve";
        case RoundPhase::kAuditSeal: return "audit_seal";
        case RoundPhase::kConfirmSeal: return "confirm_seal";
        case RoundPhase::kAuditOpen: return "audit_open";
        case RoundPhase::kRedrawSeal: return "redraw_seal";
        case RoundPhase::kRedrawOpen: return "redraw_open";
        case RoundPhase::kReveal: return "reveal";
        case RoundPhase::kStore: return "store";
        case RoundPhase::kMergeSeal: return "merge_seal";
        case RoundPhase::kMergeOpen: return "merge_open";
        case RoundPhase::kSettled: return "settled";
    }
    return "unknown";
}

std::string_view to_text(LineKind kind) {
    switch (kind) {
        case LineKind::kSlot: return "slot";
        case LineKind::kAudit: return "audit";
        case LineKind::kMerge: return "merge";
        case LineKind::kLink: return "link";
    }
    return "unknown";
}

}  // namespace assay::contracts
